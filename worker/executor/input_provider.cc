#include "worker/executor/input_provider.h"

#include "absl/strings/cord.h"
#include "common/base/errors.h"

namespace galley::worker {
namespace {

constexpr char kNeedsUrl[] = "galley.v1/needs";
constexpr char kStaleUrl[] = "galley.v1/stale";
constexpr char kOtherToolUrl[] = "galley.v1/other-tool";  // path, wanted, found; each ends in NUL

std::string Joined(const OtherTool& tool) {
  std::string joined;
  for (const std::string* const part : {&tool.path, &tool.wanted, &tool.found})
    joined += *part + '\0';
  return joined;
}

OtherTool Split(const std::string& joined) {
  OtherTool tool;
  size_t begin = 0;
  for (std::string* const part : {&tool.path, &tool.wanted, &tool.found}) {
    const size_t end = joined.find('\0', begin);
    *part = joined.substr(begin, end - begin);
    begin = end + 1;
  }
  return tool;
}

}  // namespace

absl::Status InterruptedBy(const Interruption& interruption) {
  if (const auto* needs = std::get_if<NeedsPackage>(&interruption)) {
    absl::Status status = AbortedError("needs the cooked output of {} first", needs->package);
    status.SetPayload(kNeedsUrl, absl::Cord(needs->package));
    return status;
  }
  if (const auto* tool = std::get_if<OtherTool>(&interruption)) {
    absl::Status status = AbortedError(
        "tool({}) on this machine is another one than the director's: wanted {}, found {}",
        tool->path, tool->wanted, tool->found);
    status.SetPayload(kOtherToolUrl, absl::Cord(Joined(*tool)));
    return status;
  }
  const std::string& path = std::get<StaleFile>(interruption).path;
  absl::Status status = AbortedError("{} is no longer what the snapshot says", path);
  status.SetPayload(kStaleUrl, absl::Cord(path));
  return status;
}

std::optional<Interruption> InterruptionOf(const absl::Status& status) {
  if (const auto needs = status.GetPayload(kNeedsUrl)) return NeedsPackage{std::string(*needs)};
  if (const auto stale = status.GetPayload(kStaleUrl)) return StaleFile{std::string(*stale)};
  if (const auto tool = status.GetPayload(kOtherToolUrl)) return Split(std::string(*tool));
  return std::nullopt;
}

}  // namespace galley::worker
