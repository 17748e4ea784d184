#include "common/vfs/retry.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "common/vfs/blob_id.h"
#include "common/vfs/protocol.h"

namespace galley::vfs {
namespace {

constexpr int kPauseMs = 200;  // before a request is sent again
constexpr uint64_t kRetryAfterMaxS = 30;

int CodeOf(int status) {
  switch (status) {
    case 400:
      return GALLEY_VFS_INVALID;
    case 401:
    case 403:
    case 421:
      return GALLEY_VFS_REFUSED;
    case 404:
    case 410:
      return GALLEY_VFS_ABSENT;
    case 409:
      return GALLEY_VFS_SUPERSEDED;
    case 422:
      return GALLEY_VFS_FAILED;
    case 503:
    case 504:
      return GALLEY_VFS_TIMED_OUT;
    default:
      return GALLEY_VFS_SERVER;
  }
}

}  // namespace

// Something else may listen at the address: only a director's own errors mean what they say.
Fault FaultOf(const std::string& what, const ResponseHead& head, std::string_view body) {
  const bool is_galley = head.Find("content-type").starts_with("application/problem+json");
  return {is_galley ? CodeOf(head.status) : GALLEY_VFS_SERVER,
          what + ": " + ParseProblem(head, body).text};
}

bool Pause(int pause_ms, const Waiting& waiting) {
  const uint64_t until = waiting.now() + static_cast<uint64_t>(pause_ms);
  for (uint64_t now = waiting.now(); now < until && !waiting.is_over(); now = waiting.now()) {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::min<uint64_t>(until - now, Waiting::kPieceMs)));
  }
  return !waiting.is_over();
}

int RetryAfterMs(const ResponseHead& head) {
  const std::optional<uint64_t> seconds = ParseNumber(head.Find("retry-after"));
  return std::max(static_cast<int>(std::min(seconds.value_or(1), kRetryAfterMaxS)) * 1'000,
                  kPauseMs);
}

bool MayTryAgain(Ground& ground, const Fault& fault, const Waiting& waiting) {
  if (fault.is_cut) return Pause(kPauseMs, waiting);
  if (fault.code != GALLEY_VFS_DAMAGED) return false;
  ground.Log(GALLEY_VFS_WARNING, fault.text + "; they are fetched once more");
  return !waiting.is_over();
}

std::pair<std::string, std::string> WaitField(const Waiting& waiting) {
  constexpr int kWaitMaxMs = 600'000;
  return {"Prefer", "wait=" + std::to_string(std::max(waiting.LeftMs(kWaitMaxMs) / 1'000, 1))};
}

Result<Answer> AskDirector(Ground& ground, const Request& request, const Waiting& waiting,
                           const AnswerLimits& limits) {
  for (int tries = 1;;) {
    Answer answer;
    const auto take_body = [&](std::string_view bytes) -> Outcome {
      if (answer.body.size() + bytes.size() > limits.body_bytes_max)
        return Fault{GALLEY_VFS_SERVER, "the answer of the director is too long"};
      answer.body += bytes;
      return std::nullopt;
    };
    Result<ResponseHead> head =
        ground.Do(request, waiting,
                  {.head = nullptr, .body = take_body, .silence_max_ms = limits.silence_max_ms});
    if (!head.ok()) {
      const bool is_last = tries++ == kTriesMax;
      if (is_last || !MayTryAgain(ground, head.fault(), waiting)) return head.fault();
      continue;
    }
    answer.head = *std::move(head);
    if (answer.head.status != 503) return answer;
    if (!Pause(RetryAfterMs(answer.head), waiting)) {
      if (waiting.is_cancelled()) return Fault{GALLEY_VFS_CANCELLED, "it was cancelled"};
      return FaultOf("the director is not ready", answer.head, answer.body);
    }
  }
}

}  // namespace galley::vfs
