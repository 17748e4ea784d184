// DirectorShell's memory beyond the cook: failures, and why each package is in the cook, for
// `galley why`.

#include <future>
#include <utility>

#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "director/shell/forget_results.h"

namespace galley::director {

void DirectorShell::NoteFailure(CookSeat& seat, const PackageFailed& failed) {
  const FailureRecord record{.cook = static_cast<uint32_t>(seat.number()),
                             .time = clock_.Now(),
                             .stage = std::string(StageName(failed.stage)),
                             .error = failed.error,
                             .log = failed.log,
                             .cause = std::string(FailureCauseName(failed.cause)),
                             .worker = failed.worker.valid() ? workers_.NameOf(failed.worker) : "",
                             .attempt = failed.attempt,
                             .attempts = failed.attempts,
                             .own_faults = failed.own_faults,
                             .infrastructure_faults = failed.infrastructure_faults};
  for (PlatformIndex p = 0; p < world_.Get()->project->platforms.size(); ++p) {
    if (!failed.platform ? (seat.platforms & MaskOf(p)) == 0 : *failed.platform != p) continue;
    seat.failures.Failed({core_->NameOf(failed.package), PlatformName(p)}, record);
  }
}

absl::Status DirectorShell::Forget(const std::vector<std::string>& packages) {
  std::promise<absl::Status> forgotten;
  std::future<absl::Status> told = forgotten.get_future();
  commit_thread_.Post([this, &packages, &forgotten] {
    const absl::Status status = ForgetResults(packages, store_, journal_, limits_.kept());
    if (status.ok()) OnLoop([this, &packages] { StepCore(PackagesCleared{packages}); });
    forgotten.set_value(status);
  });
  return told.get();
}

// Takes the failures that go to the journal with the group that is about to be committed.
std::vector<FailureUpdate> DirectorShell::TakeFailures() {
  std::vector<FailureNotes::Where> committed;
  for (const StoredResultPtr& stored : commits_.pending()) {
    if (stored != nullptr) committed.emplace_back(stored->package, stored->platform_name);
  }
  std::vector<FailureUpdate> updates;
  seats_.ForEach([&](CookSeat& seat) {
    for (FailureUpdate& one : seat.failures.Take(committed)) updates.push_back(std::move(one));
  });
  return updates;
}

// In the step in which the cook ended: the core lets go of its reasons then.
InstigatorNotes DirectorShell::NoteInstigators(const CookSeat& seat) {
  const CookEnded& ended = *seat.ended;
  const bool is_whole = seat.order.request.by_the_book && !ended.is_interrupted &&
                        !ended.is_fail_fast && ended.infrastructure_error.empty();
  // (Of a difference only the packages that are new in the cook have reasons of this cook alone.)
  using Of = InstigatorNotes::Of;
  std::vector<std::string> platforms;
  for (PlatformMask left = seat.platforms; left != 0; left &= left - 1)
    platforms.push_back(PlatformName(static_cast<PlatformIndex>(std::countr_zero(left))));
  InstigatorNotes notes(seat.is_difference ? Of::kDifference
                        : is_whole         ? Of::kWhole
                                           : Of::kPart,
                        platforms);
  core_->ForEachReasonIn(seat.number(), [&](PackageId package, const InstigatorView& why) {
    if (seat.is_difference && seat.order.base->WasInCook(core_->NameOf(package))) return;
    notes.Add(core_->NameOf(package), why.category,
              why.referencer.valid() ? &core_->NameOf(why.referencer) : nullptr);
  });
  return notes;
}

}  // namespace galley::director
