// The JSON that devices send and get: sessions, records, what differs, and what changed.
//
//   POST /v1/sessions      {"platform":"linux","cultures":["de"],"root":"<hex>/<size>",
//                           "last_good":true,"succeeds":"<session>"}
//   a session              {"session":"...","platform":"linux","cultures":["de"],
//                           "root":"<hex>/<size>","newest_root":"<hex>/<size>","frozen":false,
//                           "last_good":true}
//   a record               {"action_key":"<hex>/<size>","outputs":[{"suffix":".ktx2",
//                           "digest":"<hex>/<size>","executable":false}]}
//   what differs           {"modified":[{"path":"Game/a.png.ktx2","after":"<hex>/<size>"}],
//                           "removed":["Game/b.txt"]}
//   an event               {"root":"<hex>/<size>","world":7,"modified":[{"path":"Game/a.png.ktx2",
//                           "before":"<hex>/<size>","after":"<hex>/<size>"}]}
//
// docs/http.md specifies all of them. Lists and texts that are empty are left out of events,
// records and differences. Bytes that are not UTF-8 are replaced.
// Threads: none; pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "director/devices/change_event.h"
#include "director/serve/device_calls.h"

namespace galley::director {

inline constexpr size_t kCulturesAskedMax = 1000;
inline constexpr size_t kAskedTextBytesMax = 255;  // of a name

// INVALID_ARGUMENT, with a sentence: not an object, no platform, a field of another type or that
// nobody knows, a text or list that is too long, a root that is no digest.
absl::StatusOr<SessionAsk> ReadSessionAsk(std::string_view json);

std::string SessionJson(const DeviceSessionState& session);
std::string RecordJson(const DeviceRecord& record);
std::string DifferenceJson(const RootDifference& difference);
// Returns a line, without its end.
std::string EventJson(const devices::ChangeEvent& event);

}  // namespace galley::director
