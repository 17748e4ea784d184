// DirectorShell's memory beyond the cook: failures, and why each package is in the cook, for
// `galley why`; and kept limits.

#include <future>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "director/shell/forget_results.h"
#include "fmt/format.h"

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

// Keeps the limit and returns what a person is told of that beside the error. (A failure that was
// kept by an earlier cook has no attempt.) A disk without room is the machine's fault, whatever
// failed for it.
std::string DirectorShell::KeepLimit(const PackageFailed& failed) {
  if (failed.attempt == 0) return "";
  std::optional<KeptLimit> seen = reports_.OutgrownIn(failed.attempt);
  absl::Status kept = options_.has_room ? options_.has_room() : absl::OkStatus();
  if (!seen) kept = absl::NotFoundError("too many other attempts failed since");
  if (kept.ok()) {
    const std::string what = limit_answers_.WhatIsKept(seen->kind);
    kept = limit_answers_.Keep(*std::move(seen), failed, clock_.Now());
    if (kept.ok()) {
      commit_thread_.Post([this] { SaveLimits(); });
      return "; " + what;
    }
  }
  return fmt::format("; this is not kept for the next cook: {}", MessageOf(kept));
}

absl::Status DirectorShell::Forget(const std::vector<std::string>& packages) {
  std::promise<absl::Status> forgotten;
  std::future<absl::Status> told = forgotten.get_future();
  commit_thread_.Post([this, &packages, &forgotten] {
    const absl::Status status = ForgetResults(packages, store_, journal_, kept_limits_);
    if (status.ok()) OnLoop([this, &packages] { StepCore(PackagesCleared{packages}); });
    forgotten.set_value(status);
  });
  return told.get();
}

// Commit thread.
void DirectorShell::SaveLimits() {
  if (kept_limits_.is_saved()) return;
  absl::Status saved = options_.may_write ? options_.may_write() : absl::OkStatus();
  if (saved.ok()) saved = kept_limits_.Save();
  if (saved.ok()) return;
  const std::string text = fmt::format(
      "what outgrew its limits could not be written down, and is tried again in the next cook: {}",
      MessageOf(saved));
  LogWarning("{}", text);
  Post(Internal([this, text] {
    seats_.Tell([text](ShellListener& one) { one.OnPassingWarning("", "", text); });
  }));
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
