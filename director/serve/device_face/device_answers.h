// The answers of DeviceCalls as answers of HTTP.
//
// Threads: none; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "director/serve/device_calls.h"
#include "director/serve/http/http_answer.h"

namespace galley::director {

// LostBytes: the meaning of an answer whose bytes the store lacks after all.
enum class LostBytes {
  kAbsent,    // 404: the bytes alone were asked for
  kGone,      // 410: a root that is the same for ever
  kNotReady,  // 503: asked again, they are made again
};

// 200 with the file's bytes, its tag, and the fields of docs/http.md. `path` has the end that says
// the content type. A file of an older root is kept by nobody, so that no cache takes it for the
// present one.
HttpAnswer FileAnswer(const DeviceFile& file, std::string_view path, HttpBody body);

// A problem with the members that the refusal has.
HttpAnswer RefusalAnswer(const DeviceRefusal& refusal);
// Says whether the store has no such bytes; otherwise it could not be asked. REQUIRES: `why` is an
// error.
bool AreLost(const absl::Status& why);
// The bytes of `digest` cannot be read. REQUIRES: `why` is an error.
HttpAnswer UnreadAnswer(const Digest& digest, const absl::Status& why, LostBytes if_lost);

// 400 and 404 of ReadDeviceTarget, 400 of ReadSessionAsk. REQUIRES: `why` is an error.
HttpAnswer WrongRequestAnswer(const absl::Status& why);
// 405. `methods`: "GET, HEAD".
HttpAnswer WrongMethodAnswer(std::string_view methods);
// 415: the body is none of JSON.
HttpAnswer WrongMediaAnswer();

// 200, or 201 with a Location for a session that was opened.
HttpAnswer SessionAnswerOf(const DeviceSessionState& session, bool is_new);
HttpAnswer RecordAnswerOf(const DeviceRecord& record);
// 200, the same for ever.
HttpAnswer DifferenceAnswerOf(const RootDifference& difference);

}  // namespace galley::director
