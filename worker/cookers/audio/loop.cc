#include "worker/cookers/audio/loop.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

// Above the frames of any file, and small enough that the sum of two does not overflow.
constexpr uint64_t kFrameMax = uint64_t{1} << 40;

absl::StatusOr<uint64_t> ParseFrame(std::string_view name, std::string_view text) {
  const auto value = ParseWhole<uint64_t>(text);
  if (!value || *value > kFrameMax) {
    return VerdictError("comment {}: expected a number of samples, not \"{}\"", name,
                        text.substr(0, 40));
  }
  return *value;
}

absl::StatusOr<std::optional<uint64_t>> FindFrame(const std::vector<std::string>& comments,
                                                  std::string_view name) {
  std::optional<uint64_t> found;
  for (const std::string& comment : comments) {
    const size_t equals = comment.find('=');
    if (equals == std::string::npos) continue;
    std::string key = comment.substr(0, equals);
    absl::AsciiStrToUpper(&key);
    if (key != name) continue;
    ASSIGN_OR_RETURN(const uint64_t value,
                     ParseFrame(name, std::string_view(comment).substr(equals + 1)));
    if (found && *found != value)
      return VerdictError("comment {} is there twice: {} and {}", name, *found, value);
    found = value;
  }
  return found;
}

}  // namespace

uint64_t ScaleFrames(uint64_t value, uint32_t from_rate, uint32_t to_rate) {
  return (value * to_rate * 2 + from_rate) / (uint64_t{from_rate} * 2);
}

absl::StatusOr<std::optional<Loop>> LoopOfComments(const std::vector<std::string>& comments,
                                                   uint64_t frames) {
  ASSIGN_OR_RETURN(const std::optional<uint64_t> start, FindFrame(comments, "LOOPSTART"));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> length, FindFrame(comments, "LOOPLENGTH"));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> end, FindFrame(comments, "LOOPEND"));
  if (!start && !length && !end) return std::nullopt;
  const uint64_t first = start.value_or(0);
  if (end && *end <= first)
    return VerdictError("the comments LOOPSTART {} and LOOPEND {} leave no loop", first, *end);
  if (end && length && *end - first != *length) {
    return VerdictError(
        "the comments LOOPSTART {}, LOOPLENGTH {} and LOOPEND {} contradict each other", first,
        *length, *end);
  }
  if (length) return Loop{.start = first, .length = *length};
  const uint64_t after = end.value_or(std::max(frames, first));
  return Loop{.start = first, .length = after - first};
}

absl::StatusOr<Loop> FitLoop(Loop loop, uint64_t frames, std::vector<std::string>& warnings) {
  if (loop.start >= frames) {
    return VerdictError("the loop starts at frame {}, behind the sound's end ({} frames)",
                        loop.start, frames);
  }
  if (loop.length == 0) return VerdictError("the loop at frame {} has a length of 0", loop.start);
  if (loop.length > frames - loop.start) {
    warnings.push_back(fmt::format(
        "the loop ends at frame {}, behind the sound's end; it ends with the sound, at {}",
        loop.start + loop.length, frames));
    loop.length = frames - loop.start;
  }
  return loop;
}

Loop ScaleLoop(const Loop& loop, uint32_t from_rate, uint32_t to_rate, uint64_t to_frames) {
  const uint64_t start = std::min(ScaleFrames(loop.start, from_rate, to_rate), to_frames - 1);
  const uint64_t end = std::min(
      std::max(ScaleFrames(loop.start + loop.length, from_rate, to_rate), start + 1), to_frames);
  return {.start = start, .length = end - start};
}

}  // namespace galley::worker::audio
