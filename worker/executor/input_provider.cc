#include "worker/executor/input_provider.h"

#include "absl/strings/cord.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr char kNeedsUrl[] = "galley.v1/needs";
constexpr char kStaleUrl[] = "galley.v1/stale";

}  // namespace

absl::Status InterruptedBy(const Interruption& interruption) {
  if (const auto* needs = std::get_if<NeedsPackage>(&interruption)) {
    absl::Status status =
        absl::AbortedError(fmt::format("needs the cooked output of {} first", needs->package));
    status.SetPayload(kNeedsUrl, absl::Cord(needs->package));
    return status;
  }
  const std::string& path = std::get<StaleFile>(interruption).path;
  absl::Status status =
      absl::AbortedError(fmt::format("{} is no longer what the snapshot says", path));
  status.SetPayload(kStaleUrl, absl::Cord(path));
  return status;
}

std::optional<Interruption> InterruptionOf(const absl::Status& status) {
  if (const auto needs = status.GetPayload(kNeedsUrl)) return NeedsPackage{std::string(*needs)};
  if (const auto stale = status.GetPayload(kStaleUrl)) return StaleFile{std::string(*stale)};
  return std::nullopt;
}

}  // namespace galley::worker
