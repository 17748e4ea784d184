#include "director/shell/input_repair.h"

#include <utility>
#include <variant>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/unreadable_inputs.h"
#include "fmt/format.h"

namespace galley::director {

void InputRepair::LookAtReport(const WorkerReport& report) {
  const auto* failed = std::get_if<WorkerReport::Failed>(&report.what);
  const bool is_of_disk =
      failed != nullptr && (failed->fault == WorkerReport::Fault::kInfrastructure ||
                            failed->fault == WorkerReport::Fault::kNoRoom);
  if (!is_of_disk) return;
  EndIfDiskIsFull();
  if (failed->executor_lost || failed->fault == WorkerReport::Fault::kNoRoom) return;
  std::vector<GivenBlob> blobs = deps_.reports.GivenTo(report.attempt);
  if (blobs.empty()) return;
  deps_.tasks.Post([this, blobs = std::move(blobs)] { Distrust(blobs); });
}

void InputRepair::EndIfDiskIsFull() {
  if (!deps_.has_room) return;
  if (const absl::Status room = deps_.has_room(); !room.ok())
    deps_.inbox.PostEvent(DirectorUnfit{MessageOf(room)});
}

void InputRepair::Distrust(const std::vector<GivenBlob>& blobs) {
  auto found = DistrustUnreadable(deps_.store, deps_.journal, blobs, deps_.lies_at);
  // Otherwise a package that reads such a blob would be tried a hundred times in vain.
  if (!found.ok()) {
    return deps_.inbox.PostEvent(DirectorUnfit{
        fmt::format("forgetting what cannot be read: {}", MessageOf(found.status()))});
  }
  if (found->packages.empty()) return;
  for (const std::string& package : found->packages)
    LogWarning("package={} its bytes in the store are wrong or gone: it is made again", package);
  deps_.inbox.PostTask([this, found = *std::move(found)]() mutable {
    deps_.cooks.ForEach([&](ActiveCook& cook) {
      cook.lost_blobs.insert(found.blobs.begin(), found.blobs.end());
      cook.lost_packages.insert(found.packages.begin(), found.packages.end());
    });
    deps_.inbox.HandleNow(PackagesCleared{std::move(found.packages)});
    deps_.inbox.HandleNow(LossSeen{});  // a found loss is seldom the only loss
  });
}

}  // namespace galley::director
