#include "director/core/workers/reports.h"

#include <algorithm>

#include "director/core/packages/failure_texts.h"

namespace galley::director {
namespace {

constexpr char kMadeTwice[] =
    "two workers cooked it in this cook, and it came out different: its cooker is not "
    "deterministic. The first result counts";

bool IsAnother(const ResultView& first, const ResultView& second) {
  return !first.is_verdict && !second.is_verdict &&
         (first.outputs != second.outputs || first.references != second.references ||
          first.generated != second.generated);
}

}  // namespace

void Reports::OnWorkerReported(const WorkerReported& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr) return;
  workers_.Heard(event.worker, step_.awake);
  for (const WorkerReport& report : event.reports) {
    if (worker->reports.See(report.report) ||
        worker->reports.uncommitted.erase(report.report) > 0) {
      OnReport(event.worker, report);
    } else if (!worker->reports.unacknowledged.contains(report.report)) {
      deps_.acknowledgements.Acknowledge(event.worker, report.report);
    }
  }
}

// Counts each report once: a report comes again after a commit that failed, and from a process that
// comes back when another process had taken its place. An attempt's reports come in their order.
void Reports::CountBytes(Attempt& attempt, const WorkerReport& report) {
  if (report.report <= attempt.told_up_to) return;
  attempt.told_up_to = report.report;
  claimants_.Count(attempt.package, &Counters::bytes_read, report.bytes.read);
  claimants_.Count(attempt.package, &Counters::bytes_warm, report.bytes.warm);
  claimants_.Count(attempt.package, &Counters::bytes_saved, report.bytes.saved);
  counts_.figures.bytes_read += report.bytes.read;
  counts_.figures.bytes_warm += report.bytes.warm;
  counts_.figures.bytes_saved += report.bytes.saved;
}

void Reports::OnReport(WorkerId worker, const WorkerReport& report) {
  const Attempt* attempt = deps_.attempts.Find(report.attempt);
  // The attempt was never given to this worker: the report is refused.
  if (attempt == nullptr || attempt->worker != worker || workers_.Find(worker)->health.has_violated)
    return deps_.acknowledgements.Acknowledge(worker, report.report);
  workers_.Find(worker)->jobs.NoteReport(report.attempt, step_.awake);
  CountBytes(deps_.attempts.at(report.attempt), report);
  if (deps_.held_results.IsQuarantined(worker) &&
      !std::holds_alternative<WorkerReport::Ended>(report.what))
    return deps_.acknowledgements.Acknowledge(worker, report.report);
  struct Handlers {
    Reports& reports;
    WorkerId worker;
    const WorkerReport& report;
    Answer operator()(const WorkerReport::Loaded& what) {
      return reports.OnLoaded(report.attempt, what), Answer::kNow;
    }
    Answer operator()(const WorkerReport::Saved& what) {
      return reports.OnSaved(worker, report.report, report.attempt, what);
    }
    Answer operator()(const WorkerReport::Failed& what) {
      return reports.OnFailed(report.attempt, what), Answer::kNow;
    }
    Answer operator()(const WorkerReport::Needs& what) {
      return reports.OnNeeds(report.attempt, what), Answer::kNow;
    }
    Answer operator()(const WorkerReport::Stale& what) {
      return reports.OnStale(report.attempt, what), Answer::kNow;
    }
    Answer operator()(const WorkerReport::Ended&) {
      reports.deps_.resumed_attempts.ForgetResumed(report.attempt);
      reports.deps_.acknowledgements.NoteEnded(worker, report.report, report.attempt);
      return reports.OnEnded(report.attempt), Answer::kNow;
    }
  };
  switch (std::visit(Handlers{*this, worker, report}, report.what)) {
    case Answer::kNow:
      return deps_.acknowledgements.Acknowledge(worker, report.report);
    case Answer::kWhenDurable:
      workers_.Find(worker)->reports.unacknowledged.insert(report.report);
      return;
    case Answer::kOfProofs:
      return;
  }
}

void Reports::OnLoaded(AttemptId id, const WorkerReport::Loaded& loaded) {
  Attempt* attempt = deps_.attempts.Current(id);
  if (attempt == nullptr) return;
  deps_.fleet.start_failures().NoteWorks(*workers_.Find(attempt->worker));
  attempt->measured += loaded.load_time;
  attempt->load += loaded.load_time;
  const PackageId package = attempt->package;
  attempt->is_loaded = packages_[package].work->is_loaded = true;
  graph_.lifecycle().SetLoaded(package);
  const PlatformMask platforms =
      step_.platform_sets.Mask(loaded.platforms, attempt->platform_set) & attempt->remaining;
  for (PlatformIndex p = 0; p < step_.platform_count && loaded.so_far != nullptr; ++p) {
    if (platforms & MaskOf(p))
      deps_.discovered_references.SetExplored(package, p, loaded.so_far, false);
  }
  deps_.package_progress.Advance(package);
}

// A result is welcome from any worker that was once given the attempt, if the package still wants
// it.
Reports::Answer Reports::OnSaved(WorkerId worker, ReportId report, AttemptId id,
                                 const WorkerReport::Saved& saved) {
  Attempt& attempt = deps_.attempts.at(id);
  const PackageId package_id = attempt.package;
  PackageData& package = packages_[package_id];
  if (saved.platform >= 32 || (attempt.granted & MaskOf(saved.platform)) == 0 ||
      saved.result == nullptr) {
    deps_.breakers.AddViolation(worker, "a result of " + packages_.NameOf(package_id) +
                                            " for a platform that its job does not have");
    return Answer::kNow;
  }
  deps_.fleet.start_failures().NoteWorks(*workers_.Find(worker));
  deps_.eligibility.NoteMade(worker, package_id);
  graph_.blame().killings().NoteDone(package_id, workers_.Find(worker)->machine, step_.awake);
  attempt.measured += saved.save_time;
  ++attempt.saves;
  const std::optional<PlatformIndex> present =
      step_.platform_sets.Index(saved.platform, attempt.platform_set);
  if (!present.has_value())
    return FeedCache(package_id, std::nullopt, {.worker = worker, .report = report}, saved);
  const PlatformIndex platform = *present;
  const PlatformMask bit = MaskOf(platform);
  const bool was_expected = attempt.is_current && (attempt.remaining & bit) != 0;
  attempt.remaining &= ~bit;
  if (package.work == nullptr || platform >= package.slots.size() ||
      package.slots[platform].phase == Phase::kUnwanted) {
    // The package is over, or an earlier cook wanted it. A result that the cache lacks feeds the
    // cache.
    const bool has_result =
        platform < package.slots.size() && package.slots[platform].result != nullptr;
    if (!has_result)
      return FeedCache(package_id, platform, {.worker = worker, .report = report}, saved);
    DropResult(package_id, platform, attempt, saved);
    return Answer::kNow;
  }
  Slot& slot = package.slots[platform];
  Answer answer = Answer::kNow;
  if (IsSettled(slot.phase) || slot.phase == Phase::kCommitting) {
    DropResult(package_id, platform, attempt, saved);
    if (was_expected && attempt.remaining == 0) deps_.attempts.EndAttempt(id, Tell::kNothing);
  } else if (!saved.is_current || !deps_.resumed_attempts.IsOfToday(attempt)) {
    // The result is right for an older snapshot, or for earlier outputs of the package's generator
    // or inputs.
    answer = FeedCache(package_id, platform, {.worker = worker, .report = report}, saved);
    if (was_expected) {
      if ((deps_.attempts.StillInHand(package_id) & bit) == 0) {
        graph_.lifecycle().SetPhase(package_id, platform, FirstPhaseOf(claimants_, package_id));
      }
      if (attempt.remaining == 0) deps_.attempts.EndAttempt(id, Tell::kNothing);
      deps_.faults.BlameInfrastructure(package_id, bit, "its files changed while it was cooked",
                                       "");
    }
  } else if (deps_.proofs.Take(package_id, platform,
                               {.worker = worker, .report = report, .attempt = id}, saved)) {
    answer = Answer::kOfProofs;
  } else {
    deps_.held_results.NoteUnproven(worker, package_id);
    deps_.result_acceptance.Accept({.package = package_id,
                                    .platform = platform,
                                    .worker = worker,
                                    .report = report,
                                    .attempt = id},
                                   saved);
    answer = Answer::kWhenDurable;
  }
  deps_.package_progress.Advance(package_id);
  return answer;
}

// Takes a result that no cook waits for. A result that is to be proven is dropped, since no worker
// would make it again.
Reports::Answer Reports::FeedCache(PackageId package, std::optional<PlatformIndex> platform,
                                   const ResultAcceptance::Source& source,
                                   const WorkerReport::Saved& saved) {
  if (deps_.held_results.IsChosen(source.worker, package)) {
    claimants_.Count(package, &Counters::results_dropped);
    return Answer::kNow;
  }
  deps_.held_results.NoteUnproven(source.worker, package);
  deps_.commits.Commit(package, platform, saved.result->id, source.worker, source.report);
  return Answer::kWhenDurable;
}

// The platform has a result already. Chance decides which of two attempts is the first.
void Reports::DropResult(PackageId id, PlatformIndex platform, const Attempt& attempt,
                         const WorkerReport::Saved& saved) {
  claimants_.Count(id, &Counters::results_dropped);
  const ResultViewPtr& first = packages_[id].slots[platform].result;
  if (first != nullptr && saved.is_current && deps_.resumed_attempts.IsOfToday(attempt) &&
      IsAnother(*first, *saved.result))
    deps_.warnings.TellOnce(packages_[id].cooks, id,
                            {record::WarningKind::kNotDeterministic, kMadeTwice});
}

void Reports::OnFailed(AttemptId id, const WorkerReport::Failed& failed) {
  const bool is_of_machine = failed.fault == WorkerReport::Fault::kInfrastructure ||
                             failed.fault == WorkerReport::Fault::kOtherTool ||
                             failed.fault == WorkerReport::Fault::kNeedsFiles ||
                             failed.fault == WorkerReport::Fault::kNoRoom ||
                             failed.fault == WorkerReport::Fault::kProtocol;
  bool is_refused = failed.fault == WorkerReport::Fault::kRefused;
  const bool is_own = !is_of_machine && !is_refused;
  if (failed.executor_lost) {
    claimants_.CountForAll(&Counters::executors_lost);
    ++counts_.figures.executors_lost;
  }
  Attempt* attempt = deps_.attempts.Current(id);
  if (attempt == nullptr && is_own) deps_.faults.OnLateFault(id, failed);
  if (attempt == nullptr) return JudgeWorker(deps_.attempts.at(id), failed);
  const Attempt copy = *attempt;  // the calls below may end the attempt
  const PackageId package = attempt->package;
  if (failed.is_loaded) attempt->is_loaded = packages_[package].work->is_loaded = true;
  const PlatformMask platforms =
      (failed.platforms == 0 ? ~PlatformMask{0}
                             : step_.platform_sets.Mask(failed.platforms, attempt->platform_set)) &
      attempt->remaining;
  if (platforms == 0) return;
  attempt->remaining &= ~platforms;
  attempt->is_partial = true;  // the measured time is not the time of a whole job
  deps_.attempts.TakeBack(*attempt, platforms);
  // A worker of this machine has both tools and files: its word on these faults counts like any
  // other trouble.
  const bool is_elsewhere = PoolOf(attempt->worker) != Pool::kLocal;
  const bool lacks_files = is_elsewhere && failed.fault == WorkerReport::Fault::kNeedsFiles;
  is_refused |= lacks_files && !deps_.eligibility.NeedFiles(package, failed.error);
  if (is_elsewhere && failed.fault == WorkerReport::Fault::kOtherTool) {
    claimants_.Count(package, &Counters::jobs_retried);
    deps_.eligibility.Refuse(attempt->worker, package, failed.error);
  } else if (lacks_files && !is_refused) {
    claimants_.Count(package, &Counters::jobs_retried);
  } else if (is_refused) {
    deps_.package_progress.FailPlatforms(
        package, platforms, packages_[package].work->is_loaded ? Stage::kSave : Stage::kLoad,
        failed.error, failed.log, FailureCause::kRefused, id);
  } else if (is_own) {
    deps_.faults.OnOwnFault(id, failed, platforms);
  } else if (failed.is_killed) {
    deps_.culprits.OnKilled(id, failed, platforms);
  } else {
    const Worker* const where = workers_.Find(copy.worker);
    const bool is_new_there = failed.fault == WorkerReport::Fault::kInfrastructure && where &&
                              graph_.blame().AddMachine(package, where->machine);
    deps_.faults.BlameInfrastructure(package, platforms, failed.error, failed.log,
                                     RetryCause::kMachine, is_new_there);
  }
  JudgeWorker(copy, failed);
  deps_.attempts.EndSpent(package, id);
  deps_.package_progress.Advance(package);
}

// A generated source that is gone fails everywhere until it is made again: all packages of one
// generator speak against a machine like one package. The name tells the generator also while it
// begins again, and lists nothing.
PackageId Reports::SuspectOf(PackageId id) const {
  const std::string_view name = GeneratorName(packages_.NameOf(id));
  const PackageId generator = name.empty() ? PackageId() : packages_.Find(name);
  return generator.valid() ? generator : id;
}

// Another tool, and missing files, are no harm: the worker merely gets no more such jobs.
void Reports::JudgeWorker(const Attempt& attempt, const WorkerReport::Failed& failed) {
  if (failed.is_killed) return;  // the package may have killed it (Culprits)
  switch (failed.fault) {
    case WorkerReport::Fault::kInfrastructure:
      return deps_.breakers.AddFault(attempt.worker, SuspectOf(attempt.package), failed.error);
    case WorkerReport::Fault::kNoRoom:
      return deps_.breakers.AddFault(attempt.worker, PackageId(), failed.error);
    case WorkerReport::Fault::kProtocol:
      return deps_.breakers.AddViolation(attempt.worker, failed.error);
    case WorkerReport::Fault::kCrashed:
    case WorkerReport::Fault::kMemory:
    case WorkerReport::Fault::kTimeout:
    case WorkerReport::Fault::kRefused:
    case WorkerReport::Fault::kOtherTool:
    case WorkerReport::Fault::kNeedsFiles:
      return;
  }
}

void Reports::OnNeeds(AttemptId id, const WorkerReport::Needs& needs) {
  Attempt* attempt = deps_.attempts.Current(id);
  if (attempt == nullptr || needs.platform >= 32) return;
  const PackageId package_id = attempt->package;
  PackageData& package = packages_[package_id];
  const std::optional<PlatformIndex> platform =
      step_.platform_sets.Index(needs.platform, attempt->platform_set);
  deps_.attempts.EndAttempt(id, Tell::kNothing);
  deps_.attempts.EndAttempts(package_id);  // a backup would ask for the same input
  const PlatformMask platforms = InPhase(packages_[package_id], Phase::kToCook) &
                                 (platform.has_value() ? MaskOf(*platform) : 0);
  std::string error;
  if (platforms == 0 || deps_.attempts.IsOfAnotherTerm(id)) {
    // The platform is no longer wanted, and the others go on; or the attempt is of another term,
    // and was given inputs that this director was not asked for: the next attempt asks for all its
    // inputs, so that all of them are in the cook.
  } else if (retry_.AreLateInputsEnough(++package.work->needs)) {
    deps_.package_progress.FailPackage(
        package_id, Stage::kLoad,
        "asked for more than " + std::to_string(retry_.late_inputs_max()) +
            " cooked inputs one after the other, the last: " + needs.package);
  } else if (!deps_.waits.CanBeCookedInput(needs.package, package.cooks, &error)) {
    // The input is in no cook for this package yet; but when the input changes, the package is
    // tried again.
    const PackageId input = graph_.FindOrAdd(needs.package);
    deps_.claims.Join(input, InstigatorCategory::kBuildDependency, package_id, 0);
    // The failure stays with the cooks that leave the input out when another cook tries again.
    deps_.wait_evaluation.FailWhereNever(package_id, *platform, input);
    deps_.package_progress.FailPlatforms(package_id, platforms, Stage::kLoad,
                                         NoInputText(needs.package, error), "");
  } else {
    const PackageId input = graph_.FindOrAdd(needs.package);
    packages_[input].is_cooked_input = true;
    deps_.claims.Join(input, InstigatorCategory::kBuildDependency, package_id, package.cooks);
    deps_.wait_evaluation.FailWhereNever(package_id, *platform, input);
    if (package.slots[*platform].phase == Phase::kFailed) {
      // No cook of the package can have the input.
    } else if (deps_.waits.AvailabilityOf(input, *platform) == Waits::Availability::kNone) {
      deps_.waits.NoteInput(package_id, input);
      deps_.package_progress.FailPlatforms(package_id, platforms, Stage::kLoad,
                                           deps_.waits.WhyNone(input, package.cooks), "");
    } else {
      deps_.wait_cycles.AddWait(package_id, {input, *platform, true});
      deps_.equal_work_followers.LookUpWithInputs(package_id);
    }
  }
  deps_.package_progress.Advance(package_id);
}

void Reports::OnStale(AttemptId id, const WorkerReport::Stale& stale) {
  Attempt* attempt = deps_.attempts.Current(id);
  if (attempt == nullptr) return;
  const PackageId package_id = attempt->package;
  PackageData& package = packages_[package_id];
  const uint32_t attempt_epoch = attempt->epoch;
  deps_.attempts.EndAttempt(id, Tell::kNothing);
  deps_.attempts.EndAttempts(package_id);
  package.NoteNewContent();
  if (retry_.AreInfrastructureFaultsEnough(graph_.blame().AddInfrastructureFault(package_id))) {
    return deps_.package_progress.FailPackage(
        package_id, Stage::kLoad,
        "its files changed in each of too many attempts, the last: " + stale.path);
  }
  for (PlatformIndex p = 0; p < package.slots.size() && !claimants_.IsForced(package_id); ++p) {
    if (package.slots[p].phase == Phase::kToCook)
      graph_.lifecycle().SetPhase(package_id, p, Phase::kToLookUp);
  }
  deps_.package_progress.WaitForScan(package_id, stale.path, attempt_epoch);
  deps_.package_progress.Advance(package_id);
}

// The attempt is over, and something was not reported: the worker dropped it, or reports overtook
// each other.
void Reports::OnEnded(AttemptId id) {
  const Attempt* attempt = deps_.attempts.Current(id);
  if (attempt == nullptr) return deps_.attempts.ForgetRetracted(id);
  const PackageId package = attempt->package;
  const PlatformMask left = attempt->remaining;
  deps_.attempts.EndAttempt(id, Tell::kNothing);
  deps_.faults.BlameInfrastructure(package, left, "the worker gave it back", "");
  deps_.package_progress.Advance(package);
}

}  // namespace galley::director
