// Answers that bring nothing: which faults they are, and whether to ask again.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/vfs/ground.h"
#include "common/vfs/http_client.h"
#include "common/vfs/response_parser.h"
#include "common/vfs/result.h"
#include "common/vfs/waiting.h"

namespace galley::vfs {

inline constexpr int kTriesMax = 3;

// The fault that an answer is which is neither 2xx nor 304.
Fault FaultOf(const std::string& what, const ResponseHead& head, std::string_view body);

// Sleeps. False: the time of the call has passed, or it is cancelled.
bool Pause(int pause_ms, const Waiting& waiting);
// How long a director that is not ready (503) wants to be left alone.
int RetryAfterMs(const ResponseHead& head);

// True after a connection that was cut, and after wrong bytes: it is worth another try. Pauses.
bool MayTryAgain(Ground& ground, const Fault& fault, const Waiting& waiting);

// The field that tells the director how long the caller waits.
std::pair<std::string, std::string> WaitField(const Waiting& waiting);

// A director that is silent for so long is away, where nothing is cooked.
inline constexpr uint64_t kSilenceMaxMs = 10'000;

struct Answer {
  ResponseHead head;
  std::string body;
};
struct AnswerLimits {
  size_t body_bytes_max = 64 << 10;
  uint64_t silence_max_ms = kSilenceMaxMs;
};
// Asks for something that needs no cook; again where the connection was cut, or the director is not
// ready.
Result<Answer> AskDirector(Ground& ground, const Request& request, const Waiting& waiting,
                           const AnswerLimits& limits = {});

}  // namespace galley::vfs
