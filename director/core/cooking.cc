// Attempts, and what workers report of them.
#include <algorithm>
#include <bit>

#include "common/base/sabotage.h"
#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

// Names that are kept for warnings: a cook of a million packages that all read what nobody asked
// for has one mistake, not as many.
constexpr size_t kUnsolicitedMax = 10'000;

// A package that leads equal work leads no longer after so many faults of its machines.
constexpr uint32_t kFaultsToLetGo = 2;

constexpr char kMadeTwice[] =
    "two workers cooked it in this cook, and it came out different: its cooker is not "
    "deterministic. The first result counts";

bool IsAnother(const ResultView& first, const ResultView& second) {
  return !first.is_verdict && !second.is_verdict &&
         (first.outputs != second.outputs || first.references != second.references ||
          first.generated != second.generated);
}

std::string WhatItDid(WorkerReport::Fault fault) {
  switch (fault) {
    case WorkerReport::Fault::kMemory:
      return "outgrew its memory limit";
    case WorkerReport::Fault::kTimeout:
      return "ran out of time";
    case WorkerReport::Fault::kCrashed:
    case WorkerReport::Fault::kRefused:
    case WorkerReport::Fault::kInfrastructure:
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

Attempt* CookCore::Impl::Current(AttemptId id) {
  const auto found = attempts.find(id);
  return found == attempts.end() || !found->second.is_current ? nullptr : &found->second;
}

void CookCore::Impl::OnWorkerReported(const WorkerReported& event) {
  Worker* worker = workers.Find(event.worker);
  if (worker == nullptr) return;
  workers.Heard(event.worker, awake);
  for (const WorkerReport& report : event.reports) {
    if (worker->See(report.report) || worker->uncommitted.erase(report.report) > 0) {
      OnReport(event.worker, report);
    } else if (!worker->unacknowledged.contains(report.report)) {
      Acknowledge(event.worker, report.report);
    }
  }
}

// Once for each report: it comes again after a commit that failed, and from a process that comes
// back when another had taken its place. An attempt's reports come in their order.
void CookCore::Impl::CountBytes(Attempt& attempt, const WorkerReport& report) {
  if (report.report <= attempt.told_up_to) return;
  attempt.told_up_to = report.report;
  counters.bytes_read += report.bytes.read;
  counters.bytes_warm += report.bytes.warm;
  counters.bytes_saved += report.bytes.saved;
}

void CookCore::Impl::OnReport(WorkerId worker, const WorkerReport& report) {
  const auto attempt = attempts.find(report.attempt);
  // From someone to whom this attempt was never given: refused.
  if (attempt == attempts.end() || attempt->second.worker != worker)
    return Acknowledge(worker, report.report);
  CountBytes(attempt->second, report);
  struct Dispatcher {
    Impl& core;
    WorkerId worker;
    const WorkerReport& report;
    bool operator()(const WorkerReport::Loaded& what) {
      return core.OnLoaded(report.attempt, what);
    }
    bool operator()(const WorkerReport::Saved& what) {
      return core.OnSaved(worker, report.report, report.attempt, what);
    }
    bool operator()(const WorkerReport::Failed& what) {
      return core.OnFailed(report.attempt, what), true;
    }
    bool operator()(const WorkerReport::Needs& what) {
      return core.OnNeeds(report.attempt, what), true;
    }
    bool operator()(const WorkerReport::Stale& what) {
      return core.OnStale(report.attempt, what), true;
    }
    bool operator()(const WorkerReport::Ended&) {
      core.ForgetResumed(report.attempt);
      return core.OnEnded(report.attempt), true;
    }
  };
  if (std::visit(Dispatcher{*this, worker, report}, report.what)) {
    Acknowledge(worker, report.report);
  } else {
    workers.Find(worker)->unacknowledged.insert(report.report);
  }
}

void CookCore::Impl::NoteWorks(WorkerId id) {
  // Once for each: that one works for hours says nothing of those that cannot begin, or that are
  // lost as soon as they have.
  if (std::exchange(workers.Find(id)->has_worked, true)) return;
  spawn_failures = 0;
  losses = 0;
}

// What a hard reference leads to joins the cook through it; the rest is judged at the end.
void CookCore::Impl::NoteRead(PackageId reader, const std::vector<std::string>& read) {
  for (const std::string& name : read) {
    const PackageId package = packages.Find(name);
    if (package.valid() && packages[package].is_in_cook) continue;
    if (unsolicited_count >= kUnsolicitedMax) {
      ++unsolicited_dropped;
    } else if (unsolicited[reader].insert(name).second) {
      ++unsolicited_count;
    }
  }
}

bool CookCore::Impl::OnLoaded(AttemptId id, const WorkerReport::Loaded& loaded) {
  Attempt* attempt = Current(id);
  if (attempt == nullptr) return true;
  NoteWorks(attempt->worker);
  attempt->measured += loaded.load_time;
  attempt->load += loaded.load_time;
  const PackageId package = attempt->package;
  attempt->is_loaded = packages[package].work->is_loaded = true;
  lifecycle.SetLoaded(package);
  const PlatformMask platforms =
      platform_sets.Mask(loaded.platforms, attempt->platform_set) & attempt->remaining;
  for (PlatformIndex p = 0; p < platform_count && loaded.so_far != nullptr; ++p) {
    if (platforms & MaskOf(p)) SetExplored(package, p, loaded.so_far, false);
  }
  Advance(package);
  return true;
}

// Welcome whoever brings it, when the attempt was once given to the worker and the package still
// wants it.
bool CookCore::Impl::OnSaved(WorkerId worker, ReportId report, AttemptId id,
                             const WorkerReport::Saved& saved) {
  Attempt& attempt = attempts.at(id);
  const PackageId package_id = attempt.package;
  PackageData& package = packages[package_id];
  if (saved.platform >= 32 || (attempt.granted & MaskOf(saved.platform)) == 0 ||
      saved.result == nullptr)
    return true;
  NoteWorks(worker);
  attempt.measured += saved.save_time;
  ++attempt.saves;
  const std::optional<PlatformIndex> present =
      platform_sets.Index(saved.platform, attempt.platform_set);
  if (!present.has_value()) {
    Commit(package_id, std::nullopt, saved.result->id, worker, report);
    return false;
  }
  const PlatformIndex platform = *present;
  const PlatformMask bit = MaskOf(platform);
  const bool was_expected = attempt.is_current && (attempt.remaining & bit) != 0;
  attempt.remaining &= ~bit;
  if (!request.has_value() || package.work == nullptr || platform >= package.slots.size() ||
      package.slots[platform].phase == Phase::kUnwanted) {
    // The package is over, or an earlier cook wanted it. A result that nobody had yet feeds the
    // cache.
    const bool has_result =
        platform < package.slots.size() && package.slots[platform].result != nullptr;
    if (has_result) {
      DropResult(package_id, platform, attempt, saved);
      return true;
    }
    Commit(package_id, platform, saved.result->id, worker, report);
    return false;
  }
  Slot& slot = package.slots[platform];
  bool is_acknowledged = true;
  if (IsSettled(slot.phase) || slot.phase == Phase::kCommitting) {
    DropResult(package_id, platform, attempt, saved);
    if (was_expected && attempt.remaining == 0) EndAttempt(id, Tell::kNothing);
  } else if (!saved.is_current || !IsOfToday(attempt)) {
    // Right for an older snapshot, or for what its generator or its inputs gave before.
    Commit(package_id, platform, saved.result->id, worker, report);
    is_acknowledged = false;
    if (was_expected) {
      if ((StillInHand(package_id) & bit) == 0) {
        lifecycle.SetPhase(package_id, platform,
                           request->force ? Phase::kToCook : Phase::kToLookUp);
      }
      if (attempt.remaining == 0) EndAttempt(id, Tell::kNothing);
      BlameInfrastructure(package_id, bit, "its files changed while it was cooked", "");
    }
  } else {
    MissInstead(package_id, platform);
    slot.result = saved.result;
    lifecycle.SetPhase(package_id, platform, Phase::kCommitting,
                       saved.shared ? ResultSource::kCached : ResultSource::kCooked);
    Commit(package_id, platform, saved.result->id, worker, report);
    is_acknowledged = false;
    lifecycle.SetLoaded(package_id);
    if (!saved.result->is_verdict) SetExplored(package_id, platform, saved.result, true);
    NoteRead(package_id, saved.read);
    costs.MeasuredMemory(package.cost_traits, saved.memory_peak_bytes);
    // Another attempt need not make it again.
    for (const AttemptId current : AttemptsAt(package_id)) {
      attempts.at(current).remaining &= ~bit;
      attempts.at(current).is_partial |= current != id;
    }
    counters.backups_won += attempt.is_backup && attempt.remaining == 0;
    EndSpent(package_id, id);
  }
  Advance(package_id);
  return is_acknowledged;
}

// The platform has one. Which of two attempts is the first is chance.
void CookCore::Impl::DropResult(PackageId id, PlatformIndex platform, const Attempt& attempt,
                                const WorkerReport::Saved& saved) {
  ++counters.results_dropped;
  const ResultViewPtr& first = packages[id].slots[platform].result;
  if (request.has_value() && first != nullptr && saved.is_current && IsOfToday(attempt) &&
      IsAnother(*first, *saved.result))
    WarnOnce(id, kMadeTwice);
}

void CookCore::Impl::OnFailed(AttemptId id, const WorkerReport::Failed& failed) {
  const bool is_refused = failed.fault == WorkerReport::Fault::kRefused;
  const bool is_own = failed.fault != WorkerReport::Fault::kInfrastructure && !is_refused;
  if (failed.executor_lost) ++counters.executors_lost;
  Attempt* attempt = Current(id);
  if (attempt == nullptr && is_own) OnLateFault(id, failed);
  if (attempt == nullptr) return;
  const PackageId package = attempt->package;
  const PlatformMask platforms =
      (failed.platforms == 0 ? ~PlatformMask{0}
                             : platform_sets.Mask(failed.platforms, attempt->platform_set)) &
      attempt->remaining;
  if (platforms == 0) return;
  attempt->remaining &= ~platforms;
  attempt->is_partial = true;  // what it measured is of no whole job
  TakeBack(*attempt, platforms);
  if (is_refused) {
    FailPlatforms(package, platforms,
                  packages[package].work->is_loaded ? Stage::kSave : Stage::kLoad, failed.error,
                  failed.log, FailureCause::kRefused, id);
  } else if (is_own) {
    OnOwnFault(id, failed, platforms);
  } else {
    BlameInfrastructure(package, platforms, failed.error, failed.log);
  }
  EndSpent(package, id);
  Advance(package);
}

// What was retracted and goes on somewhere is ended: it would do there what it did here, uncounted.
// A director that goes on with this cook must not take the faults of older content for the last one
// of what there is now: it is told of one less.
uint32_t CookCore::Impl::CountOwnFault(PackageId package, WorkerId worker,
                                       const WorkerReport::Failed& failed, bool is_of_today) {
  const auto found = retracted.find(package);
  if (found != retracted.end()) {
    for (const AttemptId attempt : found->second) {
      const WorkerId where = attempts.at(attempt).worker;
      if (workers.Find(where)->presence == Worker::Presence::kAttached)
        DesireFor(where).cancel.push_back(attempt);
    }
    retracted.erase(found);
  }
  const uint32_t count = blame.AddOwnFault(package, worker);
  if (IsLimit(failed)) blame.AddLimit(package);
  if (is_of_today && packages[package].work != nullptr) {
    packages[package].work->runs_alone = IsToRunAlone(package);
    lifecycle.Refresh(package);
  }
  const uint32_t told = is_of_today && !forgiven_late.contains(package)
                            ? count
                            : std::min(count, options.own_fault_attempts_max - 1);
  Note(PackageBlamed{package, told, WhatItDid(failed.fault), failed.error, failed.log});
  return IsSabotaged(Sabotage::kRetryPoisonForEver) ? 0 : count;
}

// False: it may be tried (again). What it did under an earlier director is no reason to let it kill
// once more.
bool CookCore::Impl::Quarantine(PackageId id) {
  const auto found = quarantined.find(id);
  if (found == quarantined.end()) return false;
  const CookRequested::Blamed& before = found->second;
  FailPlatforms(id, InPhase(id, Phase::kToCook), Stage::kLoad,
                QuarantineText(before.what, before.error, before.own_faults), before.log,
                FailureCause::kPackage);
  Advance(id);
  return true;
}

void CookCore::Impl::OnOwnFault(AttemptId id, const WorkerReport::Failed& failed,
                                PlatformMask platforms) {
  const Attempt& attempt = attempts.at(id);
  const uint32_t count = CountOwnFault(attempt.package, attempt.worker, failed);
  if (count < options.own_fault_attempts_max) {
    ++counters.jobs_retried;
    // What others have of it would be its last attempt, and not alone.
    if (!WaitsToBeAlone(attempt.package)) return;
    for (const AttemptId other : AttemptsAt(attempt.package)) {
      if (other != id) EndAttempt(other, Tell::kCancel);
    }
    return;
  }
  if ((InPhase(attempt.package, Phase::kToLookUp) | InPhase(attempt.package, Phase::kFollowing)) !=
      0)
    QuarantineOnceToCook(attempt.package, failed, count);
  const Stage stage = packages[attempt.package].work->is_loaded ? Stage::kSave : Stage::kLoad;
  const PlatformMask by_limit = KeptLimit(attempt, failed) & platforms;
  FailPlatforms(attempt.package, by_limit, stage,
                LimitText(WhatItDid(failed.fault), failed.error, count), failed.log,
                FailureCause::kLimit, id);
  FailPlatforms(attempt.package, platforms & ~by_limit, stage,
                QuarantineText(WhatItDid(failed.fault), failed.error, count), failed.log,
                FailureCause::kPackage, id);
}

// What is not looked up yet may have been cooked before: only what turns out to need a cook fails.
void CookCore::Impl::QuarantineOnceToCook(PackageId id, const WorkerReport::Failed& failed,
                                          uint32_t count) {
  quarantined[id] = {NameOf(id), count, WhatItDid(failed.fault), failed.error, failed.log};
}

// The journal forgave the package when its change was recorded; but what was told of it before the
// change was heard of here may have been recorded behind that.
void CookCore::Impl::NoteForgiven(PackageId package, uint32_t own_faults) {
  if (blame.Of(package).own > own_faults) Note(PackageBlamed{package, own_faults, "", "", ""});
}

// An attempt that was taken back had begun all the same: it killed its executor like any other, and
// counts like any other, of whatever content: the bound is on the deaths that one package costs a
// cook, and an editor that saves it each second must cost no more than one death a save. But what
// was made of older content is no verdict on the present one, which may be mended and runs already:
// that is not failed for it. It has had its last chance, though: one fault of its own, and it is
// quarantined.
void CookCore::Impl::OnLateFault(AttemptId id, const WorkerReport::Failed& failed) {
  ForgetRetracted(id);  // this one is over
  const Attempt late = attempts.at(id);
  const bool is_over = packages[late.package].work == nullptr;
  if (!request.has_value()) return;
  const PackageData& package = packages[late.package];
  const bool is_of_today = late.is_earlier || late.generation == package.generation;
  const uint32_t count = CountOwnFault(late.package, late.worker, failed,
                                       is_of_today || package.outcome == Outcome::kFailed);
  // What is in hand would be the last attempt, and not alone.
  if (!is_over && is_of_today && WaitsToBeAlone(late.package)) {
    EndAttempts(late.package, Tell::kCancel);
    return Advance(late.package);
  }
  if (count < options.own_fault_attempts_max || !is_of_today || (is_over && !late.is_earlier))
    return;
  QuarantineOnceToCook(late.package, failed, count);
  if (is_over) return;  // or not asked for yet
  EndAttempts(late.package, Tell::kCancel);
  FailPlatforms(late.package, InPhase(late.package, Phase::kToCook), Stage::kLoad,
                QuarantineText(WhatItDid(failed.fault), failed.error, count), failed.log,
                FailureCause::kPackage, id);
  Advance(late.package);
}

bool CookCore::Impl::HasFailedGenerator(PackageId id) const {
  const PackageId generator = packages.Find(GeneratorName(NameOf(id)));
  return generator.valid() && InPhase(generator, Phase::kFailed) != 0 &&
         InPhase(generator, Phase::kDone) == 0;
}

void CookCore::Impl::BlameInfrastructure(PackageId id, PlatformMask platforms,
                                         const std::string& error, const std::string& log) {
  PackageData& package = packages[id];
  if (package.work == nullptr) return;
  platforms &= ~StillInHand(id);  // another attempt goes on
  if (platforms == 0) return;
  const uint32_t count = blame.AddInfrastructureFault(id);
  // Its source may be what cannot be read, and a generator that failed does not make it again.
  const bool is_orphan = package.generated != nullptr && HasFailedGenerator(id);
  if (count < (is_orphan ? options.own_fault_attempts_max : options.infrastructure_attempts_max)) {
    ++counters.jobs_retried;
    lifecycle.BackOff(id, now + BackOff(count));
    // Backing off did not help: whoever follows need not wait for the next ones. It leads no
    // longer, and is looked up with the others.
    for (PlatformIndex p = 0; p < package.slots.size() && count == kFaultsToLetGo; ++p) {
      const Slot& slot = package.slots[p];
      const bool is_followed = slot.is_leading && lifecycle.equal_work().IsFollowed(slot.work);
      if ((platforms & MaskOf(p)) && is_followed && slot.phase == Phase::kToCook)
        lifecycle.SetPhase(id, p, Phase::kToLookUp);
    }
    return;
  }
  const Stage stage = package.work->is_loaded ? Stage::kSave : Stage::kLoad;
  const std::string text =
      std::to_string(count) + " attempts failed for the machine's sake, the last: " + error +
      (is_orphan ? " (its generator " + std::string(GeneratorName(NameOf(id))) + " failed)" : "");
  FailPlatforms(id, platforms & ~InPhase(id, Phase::kCommitting), stage, text, log,
                FailureCause::kMachine);
}

void CookCore::Impl::OnNeeds(AttemptId id, const WorkerReport::Needs& needs) {
  Attempt* attempt = Current(id);
  if (attempt == nullptr || needs.platform >= 32) return;
  const PackageId package_id = attempt->package;
  PackageData& package = packages[package_id];
  const std::optional<PlatformIndex> platform =
      platform_sets.Index(needs.platform, attempt->platform_set);
  EndAttempt(id, Tell::kNothing);
  EndAttempts(package_id, Tell::kCancel);  // a backup would ask for the same
  const PlatformMask platforms =
      InPhase(package_id, Phase::kToCook) & (platform.has_value() ? MaskOf(*platform) : 0);
  std::string error;
  if (platforms == 0) {
    // That platform is no longer wanted; the others go on.
  } else if (++package.work->needs > options.needs_max) {
    FailPackage(package_id, Stage::kLoad,
                "asked for more than " + std::to_string(options.needs_max) +
                    " cooked inputs one after the other, the last: " + needs.package);
  } else if (!CanBeCookedInput(needs.package, &error)) {
    FailPlatforms(package_id, platforms, Stage::kLoad,
                  "cooked input " + needs.package + ": expected a package: " + error, "");
  } else {
    const PackageId input = FindOrAdd(needs.package);
    packages[input].is_cooked_input = true;
    Join(input, InstigatorCategory::kBuildDependency, package_id);
    if (AvailabilityOf(input, *platform) == Availability::kNone) {
      FailPlatforms(package_id, platforms, Stage::kLoad,
                    "cooked input " + NameOf(input) + " failed", "");
    } else {
      AddWait(package_id, {input, *platform, true});
      LookUpWithInputs(package_id);
    }
  }
  Advance(package_id);
}

void CookCore::Impl::OnStale(AttemptId id, const WorkerReport::Stale& stale) {
  Attempt* attempt = Current(id);
  if (attempt == nullptr) return;
  const PackageId package_id = attempt->package;
  PackageData& package = packages[package_id];
  const uint32_t attempt_epoch = attempt->epoch;
  EndAttempt(id, Tell::kNothing);
  EndAttempts(package_id, Tell::kCancel);
  ++package.generation;
  if (blame.AddInfrastructureFault(package_id) >= options.infrastructure_attempts_max) {
    return FailPackage(package_id, Stage::kLoad,
                       "its files changed in each of too many attempts, the last: " + stale.path);
  }
  for (PlatformIndex p = 0; p < package.slots.size() && !request->force; ++p) {
    if (package.slots[p].phase == Phase::kToCook)
      lifecycle.SetPhase(package_id, p, Phase::kToLookUp);
  }
  // A job that was handed over before the last change was known tells nothing new.
  if (attempt_epoch < stale_files[stale.path].epoch) return Advance(package_id);
  package.work->stale_path = stale.path;
  absl::btree_set<PackageId>& waiters = stale_waiters[stale.path];
  if (waiters.empty()) turn.rescans.push_back(stale.path);
  waiters.insert(package_id);
  Advance(package_id);
}

// The scan goes on, for others.
void CookCore::Impl::StopWaitingForScan(PackageId id) {
  const auto waiters = stale_waiters.find(packages[id].work->stale_path);
  if (waiters != stale_waiters.end()) waiters->second.erase(id);
}

// Over, and something was not reported: dropped by the worker, or reports overtook each other.
void CookCore::Impl::OnEnded(AttemptId id) {
  const Attempt* attempt = Current(id);
  if (attempt == nullptr) return ForgetRetracted(id);
  const PackageId package = attempt->package;
  const PlatformMask left = attempt->remaining;
  EndAttempt(id, Tell::kNothing);
  BlameInfrastructure(package, left, "the worker gave it back", "");
  Advance(package);
}

void CookCore::Impl::ForgetRetracted(AttemptId id) {
  const auto found = retracted.find(attempts.at(id).package);
  if (found == retracted.end()) return;
  std::erase(found->second, id);
  if (found->second.empty()) retracted.erase(found);
}

void CookCore::Impl::ForgetRetractedOf(WorkerId worker) {
  for (auto at = retracted.begin(); at != retracted.end();) {
    std::erase_if(at->second, [&](AttemptId id) { return attempts.at(id).worker == worker; });
    const auto here = at++;
    if (here->second.empty()) retracted.erase(here);
  }
}

void CookCore::Impl::TakeBack(Attempt& attempt, PlatformMask platforms) {
  const PackageData& package = packages[attempt.package];
  platforms &= ~StillInHand(attempt.package);
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((platforms & MaskOf(p)) && package.slots[p].phase == Phase::kInHand)
      lifecycle.SetPhase(attempt.package, p, Phase::kToCook);
  }
}

std::vector<AttemptId> CookCore::Impl::AttemptsAt(PackageId id) const {
  const Work* work = packages[id].work.get();
  if (work == nullptr || work->attempt == 0) return {};
  std::vector<AttemptId> current = {work->attempt};
  current.insert(current.end(), work->others.begin(), work->others.end());
  return current;
}

PlatformMask CookCore::Impl::StillInHand(PackageId id) const {
  PlatformMask platforms = 0;
  for (const AttemptId attempt : AttemptsAt(id)) platforms |= attempts.at(attempt).remaining;
  return platforms;
}

// The caller calls Advance.
void CookCore::Impl::EndAttempt(AttemptId id, Tell tell) {
  Attempt& attempt = attempts.at(id);
  attempt.is_current = false;
  const absl::Duration ran = workers.Drop(attempt.worker, id, awake);
  if (alone == id) alone_for += ran;
  if (alone == id) alone = 0;
  grants.Release(attempt.group);
  Work& work = *packages[attempt.package].work;
  if (work.attempt != id) {
    work.others.EraseIf([id](AttemptId other) { return other == id; });
  } else if (work.others.empty()) {
    work.attempt = 0;
  } else {
    work.attempt = work.others[0];
    work.others.EraseIf([&](AttemptId other) { return other == work.attempt; });
    attempt.is_backup = std::exchange(attempts.at(work.attempt).is_backup, false);
  }
  backups -= std::exchange(attempt.is_backup, false);  // one that is left alone is none
  work.is_loaded = false;
  for (const AttemptId current : AttemptsAt(attempt.package))
    work.is_loaded |= attempts.at(current).is_loaded;
  TakeBack(attempt, ~PlatformMask{0});
  if (attempt.remaining == 0 && !attempt.is_partial && attempt.measured > absl::ZeroDuration()) {
    costs.Measured(packages[attempt.package].cost_traits, attempt.measured);
    overruns.Measured(attempt.expected, ran);
    monitor.Measured(attempt.expected, attempt.measured);
  }
  if (tell == Tell::kCancel) DesireFor(attempt.worker).cancel.push_back(id);
  if (tell != Tell::kRetract) return;
  DesireFor(attempt.worker).retract.push_back(id);
  retracted[attempt.package].push_back(id);
}

void CookCore::Impl::EndAttempts(PackageId id, Tell tell) {
  for (const AttemptId attempt : AttemptsAt(id)) EndAttempt(attempt, tell);
}

void CookCore::Impl::EndSpent(PackageId id, AttemptId reporter) {
  const std::vector<AttemptId> current = AttemptsAt(id);
  const bool is_race = current.size() > 1;
  for (const AttemptId attempt : current) {
    if (attempts.at(attempt).remaining != 0) continue;
    // The loser of a race is stopped: it may be one that never ends.
    const Tell tell = attempt == reporter
                          ? (attempts.at(attempt).is_split ? Tell::kRetract : Tell::kNothing)
                      : is_race ? Tell::kCancel
                                : ToTellOfDuplicate(attempt);
    EndAttempt(attempt, tell);
  }
}

// To stop what runs costs its worker an executor that is warm. What holds a resource must not go on
// without it.
CookCore::Impl::Tell CookCore::Impl::ToTellOfDuplicate(AttemptId id) const {
  constexpr absl::Duration kWorthAnExecutor = absl::Milliseconds(500);
  const Attempt& attempt = attempts.at(id);
  return attempt.expected < kWorthAnExecutor && attempt.group == 0 ? Tell::kRetract : Tell::kCancel;
}

}  // namespace galley::director
