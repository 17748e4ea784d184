#include "director/core/workers/faults.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"

namespace galley::director {
namespace {

// A package that leads equal work leads no longer after so many faults of its machines.
constexpr uint32_t kFaultsToLetGo = 2;
// Between attempts whose faults are not counted.
constexpr absl::Duration kBetweenUncounted = absl::Seconds(1);

std::string WhatItDid(WorkerReport::Fault fault) {
  switch (fault) {
    case WorkerReport::Fault::kMemory:
      return "outgrew its memory limit";
    case WorkerReport::Fault::kTimeout:
      return "ran out of time";
    case WorkerReport::Fault::kCrashed:
    case WorkerReport::Fault::kRefused:
    case WorkerReport::Fault::kInfrastructure:
    case WorkerReport::Fault::kOtherTool:
    case WorkerReport::Fault::kNeedsFiles:
    case WorkerReport::Fault::kNoRoom:
    case WorkerReport::Fault::kProtocol:
      return "crashed its executor";
  }
  return "";
}

std::string LimitText(const std::string& what, const std::string& error, uint32_t count) {
  return what + " in " + std::to_string(count) + " attempts, the last one alone on its machine" +
         (error.empty() ? "" : ": " + error);
}

std::string QuarantineText(const std::string& what, const std::string& error, uint32_t count) {
  return what + " (" + std::to_string(count) +
         " attempts ended by crashes or limits); quarantined for this cook" +
         (error.empty() ? "" : ": " + error);
}

}  // namespace

// Retracted attempts that go on elsewhere are cancelled: they would do there what this one did
// here, uncounted. A director that goes on with this cook must not count faults of older content as
// the last fault of the present one: it is told of at least one less than the maximum.
uint32_t Faults::CountOwnFault(PackageId package, WorkerId worker,
                               const WorkerReport::Failed& failed, bool is_of_today) {
  deps_.attempts.CancelRetracted(package);
  const Worker* const where = workers_.Find(worker);
  const uint32_t machine = where == nullptr ? kHomeMachine : where->machine;
  const uint32_t before = graph_.blame().Of(package).own;
  const uint32_t count = graph_.blame().AddOwnFault(
      package, {.worker = worker,
                .machine = machine,
                .are_others_expected = workers_.ExpectsBeside(machine, step_.awake),
                .awake = step_.awake});
  if (IsLimit(failed) && count > before) graph_.blame().AddLimit(package);
  // The package waits for the workers that are to come.
  if (count == before && packages_[package].work != nullptr)
    graph_.lifecycle().BackOff(package, step_.now + kBetweenUncounted);
  if (is_of_today && packages_[package].work != nullptr) {
    packages_[package].work->runs_alone = deps_.exclusive_run.IsToRunAlone(package);
    graph_.lifecycle().Refresh(package);
  }
  const uint32_t told = is_of_today ? count : std::min(count, retry_.OneChanceLeft());
  effects_.Note(PackageBlamed{package, told, WhatItDid(failed.fault), failed.error, failed.log},
                packages_[package].cooks & claimants_.masks().running);
  return IsSabotaged(Sabotage::kRetryPoisonForEver) ? 0 : count;
}

// False: the package may be tried (again). True: the package fails for its faults under an earlier
// director, so that it does not kill once more.
bool Faults::Quarantine(PackageId id) {
  if (FailAsKept(id)) return true;
  const CookRequested::Blamed* const found = graph_.blame().Quarantined(id);
  if (found == nullptr) return false;
  const CookRequested::Blamed before = *found;
  deps_.package_progress.FailPlatforms(id, InPhase(packages_[id], Phase::kToCook), Stage::kLoad,
                                       QuarantineText(before.what, before.error, before.own_faults),
                                       before.log, FailureCause::kPackage);
  deps_.package_progress.Advance(id);
  return true;
}

// The package used up its attempts not long ago, and only asks want some of its platforms cooked.
// True: nothing of it is left to be cooked.
bool Faults::FailAsKept(PackageId id) {
  if ((packages_[id].cooks & kAsksBit) == 0) return false;
  const PackageFailed* const found = deps_.kept_failures.Find(packages_[id].name, step_.now);
  if (found == nullptr) return false;
  const PackageFailed kept = *found;
  PlatformMask platforms = InPhase(packages_[id], Phase::kToCook);
  for (PlatformIndex p = 0; p < packages_[id].slots.size(); ++p) {
    if ((claimants_.ClaimersOn(id, MaskOf(p)) & claimants_.masks().active) != kAsksBit)
      platforms &= ~MaskOf(p);
  }
  deps_.package_progress.FailPlatforms(id, platforms, kept.stage, kept.error, kept.log, kept.cause);
  const bool is_all = InPhase(packages_[id], Phase::kToCook) == 0;
  if (is_all) deps_.package_progress.Advance(id);
  return is_all;
}

void Faults::OnOwnFault(AttemptId id, const WorkerReport::Failed& failed, PlatformMask platforms) {
  const Attempt& attempt = deps_.attempts.at(id);
  const uint32_t count = CountOwnFault(attempt.package, attempt.worker, failed);
  if (!retry_.AreOwnFaultsEnough(count)) {
    claimants_.CountRetry(attempt.package, RetryCauseOf(failed.fault));
    // The attempts that go on elsewhere would be the package's last attempt, and not alone.
    if (!deps_.exclusive_run.WaitsToBeAlone(attempt.package)) return;
    for (const AttemptId other : deps_.attempts.At(attempt.package)) {
      if (other != id) deps_.attempts.EndAttempt(other, Tell::kCancel);
    }
    return;
  }
  if ((InPhase(packages_[attempt.package], Phase::kToLookUp) |
       InPhase(packages_[attempt.package], Phase::kFollowing)) != 0)
    QuarantineOnceToCook(attempt.package, failed, count);
  const Stage stage = packages_[attempt.package].work->is_loaded ? Stage::kSave : Stage::kLoad;
  const PlatformMask by_limit = KeptLimit(attempt, failed) & platforms;
  deps_.package_progress.FailPlatforms(attempt.package, by_limit, stage,
                                       LimitText(WhatItDid(failed.fault), failed.error, count),
                                       failed.log, FailureCause::kLimit, id);
  deps_.package_progress.FailPlatforms(attempt.package, platforms & ~by_limit, stage,
                                       QuarantineText(WhatItDid(failed.fault), failed.error, count),
                                       failed.log, FailureCause::kPackage, id);
}

// Platforms that are not looked up yet may have been cooked before: only those that turn out to
// need a cook fail.
void Faults::QuarantineOnceToCook(PackageId id, const WorkerReport::Failed& failed,
                                  uint32_t count) {
  graph_.blame().Quarantine(
      id, {packages_.NameOf(id), count, WhatItDid(failed.fault), failed.error, failed.log});
}

// An attempt that was taken back had begun all the same: it killed its executor and counts like any
// other, whatever its content: the bound is on the deaths that one package costs a cook, and an
// editor that saves the package each second must cost no more than one death a save. But a fault of
// older content is no verdict on the present content, which may be mended and may run already: the
// package does not fail for it. The package has only one chance left, though: one fault of the
// present content quarantines the package.
void Faults::OnLateFault(AttemptId id, const WorkerReport::Failed& failed) {
  deps_.attempts.ForgetRetracted(id);  // this one is over
  const Attempt late = deps_.attempts.at(id);
  const bool is_over = packages_[late.package].work == nullptr;
  if ((packages_[late.package].cooks & claimants_.masks().running) == 0 && !late.is_earlier) return;
  if (claimants_.masks().running == 0) return;
  const PackageData& package = packages_[late.package];
  const bool is_of_today = late.is_earlier || late.content == package.content;
  const uint32_t count = CountOwnFault(late.package, late.worker, failed,
                                       is_of_today || package.outcome == Outcome::kFailed);
  // The attempts in hand would be the package's last attempt, and not alone.
  if (!is_over && is_of_today && deps_.exclusive_run.WaitsToBeAlone(late.package)) {
    deps_.attempts.EndAttempts(late.package);
    return deps_.package_progress.Advance(late.package);
  }
  if (!retry_.AreOwnFaultsEnough(count) || !is_of_today || (is_over && !late.is_earlier)) return;
  QuarantineOnceToCook(late.package, failed, count);
  if (is_over) return;  // or was not asked for yet
  deps_.attempts.EndAttempts(late.package);
  deps_.package_progress.FailPlatforms(
      late.package, InPhase(packages_[late.package], Phase::kToCook), Stage::kLoad,
      QuarantineText(WhatItDid(failed.fault), failed.error, count), failed.log,
      FailureCause::kPackage, id);
  deps_.package_progress.Advance(late.package);
}

bool Faults::HasFailedGenerator(PackageId id) const {
  const PackageId generator = packages_.Find(GeneratorName(packages_.NameOf(id)));
  return generator.valid() && InPhase(packages_[generator], Phase::kFailed) != 0 &&
         InPhase(packages_[generator], Phase::kDone) == 0;
}

void Faults::BlameInfrastructure(PackageId id, PlatformMask platforms, const std::string& error,
                                 const std::string& log, RetryCause cause, bool is_new_there) {
  PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  platforms &= ~deps_.attempts.StillInHand(id);  // another attempt goes on
  if (platforms == 0) return;
  // The source may be the unreadable file, and a generator that failed does not make it again.
  const bool is_orphan = package.generated != nullptr && HasFailedGenerator(id);
  // Another machine may do the job at once.
  const bool is_untried = is_new_there && deps_.worker_choice.IsUntriedAnywhere(id);
  const bool says_nothing = (deps_.breakers.are_all_held() || is_untried) && !is_orphan;
  const uint32_t count = says_nothing ? graph_.blame().Of(id).infrastructure
                                      : graph_.blame().AddInfrastructureFault(id);
  // A load on a faulty machine says nothing of how long a load takes, and the next load may be
  // long.
  graph_.lifecycle().SetLoaded(id, false);
  if (!retry_.AreInfrastructureFaultsEnough(count, is_orphan)) {
    claimants_.CountRetry(id, cause);
    graph_.lifecycle().BackOff(id, step_.now + BackOff(count));
    // Backing off did not help, and followers need not wait for the next back-offs: the package
    // leads no longer, and is looked up with the others.
    for (PlatformIndex p = 0; p < package.slots.size() && count == kFaultsToLetGo; ++p) {
      const Slot& slot = package.slots[p];
      const bool is_followed =
          slot.is_leading && graph_.lifecycle().equal_work().IsFollowed(slot.work);
      if ((platforms & MaskOf(p)) && is_followed && slot.phase == Phase::kToCook)
        graph_.lifecycle().SetPhase(id, p, Phase::kToLookUp);
    }
    return;
  }
  const Stage stage = package.work->is_loaded ? Stage::kSave : Stage::kLoad;
  const std::string text =
      std::to_string(count) + " attempts failed for the machine's sake, the last: " + error +
      (is_orphan
           ? " (its generator " + std::string(GeneratorName(packages_.NameOf(id))) + " failed)"
           : "");
  deps_.package_progress.FailPlatforms(id, platforms & ~InPhase(packages_[id], Phase::kCommitting),
                                       stage, text, log, FailureCause::kMachine);
}

// Memory may have been short because of jobs that ran beside it. A timeout counts as a limit only
// for a job that used up its time: a job that hangs would hang alone as well, and keep all others
// waiting.
bool Faults::IsLimit(const WorkerReport::Failed& failed) {
  return failed.fault == WorkerReport::Fault::kMemory ||
         (failed.fault == WorkerReport::Fault::kTimeout && failed.outgrown.has_value());
}

// The platform of the attempt whose failure is kept; none if an attempt had saved another platform
// before: memory that the other save left may have made the platform outgrow its limit.
// REQUIRES: the fault is counted.
PlatformMask Faults::KeptLimit(const Attempt& attempt, const WorkerReport::Failed& failed) const {
  const Blame::Faults faults = graph_.blame().Of(attempt.package);
  if (!IsLimit(failed) || !failed.outgrown || !attempt.is_alone || attempt.saves > 0 ||
      faults.limits != faults.own)
    return 0;
  const std::optional<PlatformIndex> platform =
      step_.platform_sets.Index(*failed.outgrown, attempt.platform_set);
  return platform.has_value() ? MaskOf(*platform) : 0;
}

void Faults::AddEarlier(PackageId package, CookRequested::Blamed blamed) {
  graph_.blame().AddEarlierFaults(package, blamed.own_faults);
  if (retry_.AreOwnFaultsEnough(blamed.own_faults) &&
      graph_.blame().Quarantined(package) == nullptr)
    graph_.blame().Quarantine(package, std::move(blamed));
}

}  // namespace galley::director
