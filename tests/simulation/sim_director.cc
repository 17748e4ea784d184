#include "tests/simulation/sim_director.h"

#include <algorithm>

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

std::string SimDirector::NameOf(WorkerId worker) {
  switch (PoolOf(worker)) {
    case Pool::kLocal:
      return "local-" + std::to_string(worker.value() + 1);
    case Pool::kLaunched:
      return "slurm-" + std::to_string(worker.value() - kLaunchedWorkers + 1);
    case Pool::kForeign:
      break;
  }
  return "foreign-" + std::to_string(worker.value() - kForeignWorkers);
}

WorkerId SimDirector::WorkerOf(const std::string& name) {
  const auto number =
      static_cast<uint32_t>(std::strtoul(name.substr(name.rfind('-') + 1).c_str(), nullptr, 10));
  if (name.starts_with("foreign-")) return WorkerId(kForeignWorkers + number);
  return WorkerId(name.starts_with("slurm-") ? kLaunchedWorkers + number - 1 : number - 1);
}

SimDirector::SimDirector(const Deps& deps, const CookOptions& options, Callbacks callbacks,
                         const std::set<std::string>& survivors)
    : deps_(deps),
      callbacks_(std::move(callbacks)),
      options_(options),
      fenced_(std::make_unique<SimStore>(deps.disk),
              [this] {
                return is_overtaken_ ? absl::FailedPreconditionError("this cook was overtaken")
                                     : absl::OkStatus();
              }),
      store_(static_cast<SimStore&>(fenced_.inner())),
      journal_(deps.disk),
      own_faults_(&deps.own_faults),
      reports_({.sources = [this] { return snapshot_; },
                .store = &fenced_,
                .results = &results_,
                .trace = &trace_},
               World::kTrustDomain, DefaultLimits{}),
      look_ups_({.sources = [this] { return snapshot_; },
                 .store = &fenced_,
                 .journal = &journal_,
                 .results = &results_,
                 .alarm = [this](const std::string& text) { deps_.checks.Trace(text); }},
                {.trust_domain = World::kTrustDomain}),
      clock_([this] { return Wall(); }, [this] { return deps_.schedule.now(); }),
      tasks_(30,
             [this](int64_t ms_max, std::function<void()> act) {
               Schedule(task_free_at_, ms_max, std::move(act));
             }),
      device_tasks_(30,
                    [this](int64_t ms_max, std::function<void()> act) {
                      Schedule(device_task_free_at_, ms_max, std::move(act));
                    }),
      root_tasks_(100,
                  [this](int64_t ms_max, std::function<void()> act) {
                    Schedule(root_task_free_at_, ms_max, std::move(act));
                  }),
      asker_(20,
             [this](int64_t ms_max, std::function<void()> act) {
               Schedule(asker_free_at_, ms_max, std::move(act));
             }),
      slow_asker_(2000,
                  [this](int64_t ms_max, std::function<void()> act) {
                    Schedule(slow_asker_free_at_, ms_max, std::move(act));
                  }),
      inbox_({.tasks = tasks_,
              .schedule = [this](std::function<void()> act) { Answer(20, std::move(act)); },
              .step = [this](const Event& event) { Step(event); }}) {
  journal_.Fence([this] {
    return is_overtaken_ ? absl::FailedPreconditionError("this cook was overtaken")
                         : absl::OkStatus();
  });
  // Only the director of the highest term makes anything durable.
  store_.wrote = journal_.wrote = [this] {
    if (is_overtaken_) deps_.checks.Break("safety: a director that was overtaken wrote");
  };
  store_.gives_up = [this](const Digest& blob, const Digest& bytes) { NoteGivenUp(blob, bytes); };
  store_.loses = [this](const Digest& blob) {
    lost_since_built_.insert(blob);
    lost_since_staged_.insert(blob);
  };
  // A Put promises nothing before its commit.
  store_.drops_unsynced = [this](const Digest& blob) { told_.erase(blob); };
  if (deps_.has_several) own_faults_ = &unheeded_.own_faults;
  if (!deps_.has_several) NoteKept();
  // The director may crash before its journal learns of the dispute.
  store_.disputed = [this] {
    if (deps_.faults.IsOn(Fault::kCrashedWriting) && deps_.random.Percent(50))
      deps_.disk.CrashAt(1);
  };
  store_.commit_fails = [this] { return deps_.faults.Happens(Fault::kCommitFailed, 8); };
  ApplyTheDifference();
  world_ = WorldOf(*snapshot_);
  CookOptions with_term = options_;
  with_term.term = journal_.meta().term;
  core_ = std::make_unique<CookCore>(with_term, snapshot_->catalog());
  own_ = std::make_unique<Owners>(*this);
  task_free_at_ = deps_.schedule.now();
  TakeOver(survivors);
  if (deps_.has_several) TickOn();
  journal_.fails = [this] { return deps_.faults.Happens(Fault::kStoreFailed, 1); };
  store_.fails = [this] {
    const bool fails = deps_.faults.Happens(Fault::kStoreFailed, 1);
    if (fails && is_looking_up_) kept_.clear();  // results that cannot be found are cooked again
    return fails;
  };
}

void SimDirector::After(absl::Duration delay, std::function<void()> act) {
  deps_.schedule.After(delay, [this, life = std::weak_ptr(life_), act = std::move(act)] {
    if (life.expired()) return;
    if (is_stopped_) return waiting_.push_back(act);
    deps_.disk.set_is_director(!is_overtaken_);
    act();
    deps_.disk.set_is_director(true);
  });
}

absl::Time SimDirector::Wall() {
  if (deps_.faults.Happens(Fault::kClockJumped, 10))
    wall_offset_ += (deps_.random.Percent(50) ? 1 : -1) * absl::Hours(1);
  return deps_.schedule.now() + wall_offset_;
}

void SimDirector::WakeOvertaken() {
  is_stopped_ = false;
  is_overtaken_ = true;
  own_faults_ = &unheeded_.own_faults;
  deps_.checks.Trace("the stopped director wakes");
  for (std::function<void()>& act : std::exchange(waiting_, {}))
    After(absl::ZeroDuration(), std::move(act));
}

void SimDirector::Schedule(absl::Time& free_at, int64_t ms_max, std::function<void()> act) {
  free_at = std::max(free_at, deps_.schedule.now()) + deps_.random.Some(ms_max);
  After(free_at - deps_.schedule.now(), std::move(act));
}

void SimDirector::Answer(int64_t ms_max, std::function<void()> act) {
  answered_at_ = std::max(answered_at_, deps_.schedule.now() + deps_.random.Some(ms_max));
  After(answered_at_ - deps_.schedule.now(), std::move(act));
}

std::vector<SelectedPackage> SimDirector::Select(const std::vector<std::string>& ids,
                                                 InstigatorCategory category) {
  std::vector<SelectedPackage> selected;
  for (const std::string& id : ids) {
    selected.push_back({World::NameIn(snapshot_->files(), id), category});
    asked_for_.insert(selected.back().name);
  }
  return selected;
}

void SimDirector::Request(CookRequested request, std::vector<std::string> ids) {
  is_forced_ = request.force;
  has_ever_failed_ = has_failed_late_ = false;
  is_fail_fast_ = request.fail_fast;
  request.blamed = std::exchange(blamed_before_, {});
  const bool is_first = requests_ == 0;
  After(absl::Milliseconds(1), [this, is_first, request, ids = std::move(ids)]() mutable {
    last_build_.clear();
    late_renames_.clear();
    asked_for_.clear();
    cook_snapshot_ = snapshot_;
    has_request_ = true;
    request_ = request.request;
    is_ending_ = is_publishing_ = is_staging_ = has_published_ = is_interrupted_late_ = false;
    is_staged_ = request.is_staged;
    request.selected = Select(ids, InstigatorCategory::kCookMap);
    if (is_first) own_faults_->BeginCook();  // no earlier cook must be over before it
    const auto cook = std::make_shared<ActiveCook>(
        CookOrder{.request = request,
                  .platforms = [this](const director::World&) -> absl::StatusOr<PlatformMask> {
                    return MaskOf(static_cast<PlatformIndex>(platform_count())) - 1;
                  },
                  .stage = [this](const std::map<std::string, Digest>& roots,
                                  const WorldPtr&) { return StageAll(roots); }});
    cook->asker = &asker_;
    asked_.push_back(cook);
    own_->cooks.Begin(cook);
  });
  TickOn();
}

// Ticks, from the first cook on.
void SimDirector::TickOn() {
  if (requests_++ > 0) return;
  struct Ticker {
    static void Run(SimDirector* self) {
      self->Step(Tick{});
      self->After(absl::Milliseconds(100), [self] { Run(self); });
    }
  };
  After(absl::Milliseconds(100), [this] { Ticker::Run(this); });
}

void SimDirector::Add(CookOrder order, bool is_again) {
  if (is_again) order.request.blamed = blamed_before_;
  order.world = world_;
  order.stage = [this, number = order.request.request](const std::map<std::string, Digest>& roots,
                                                       const WorldPtr&) {
    return ReadRoots(number, roots);
  };
  const auto cook = std::make_shared<ActiveCook>(std::move(order));
  cook->asker = cook->number() % 4 == 0 ? &slow_asker_ : &asker_;
  asked_.push_back(cook);
  After(absl::Milliseconds(1), [this, cook] { own_->cooks.Begin(cook); });
}

void SimDirector::Cancel(uint64_t request) {
  After(absl::Milliseconds(1), [this, request] { own_->cooks.Cancel(request); });
}

void SimDirector::Cancel() {
  After(absl::ZeroDuration(), [this] {
    is_ending_ = has_request_ && !is_publishing_;
    is_interrupted_late_ |= is_publishing_;
    Step(CancelRequested{request_});
  });
}

void SimDirector::Step(const Event& event) {
  const auto* const persisted = std::get_if<Persisted>(&event);
  const bool has_failed_late = persisted != nullptr && !persisted->error.empty() && !has_request_;
  if (persisted != nullptr) Take(*persisted);
  if (const auto* built = std::get_if<RootBuilt>(&event)) Take(*built);
  if (const auto* published = std::get_if<RootPublished>(&event)) Take(*published);
  if (const auto* found = std::get_if<LostFound>(&event)) Take(*found);
  if (const auto* cleared = std::get_if<PackagesCleared>(&event)) Take(*cleared);
  StepOnce(event);
  for (size_t turns = 0; core_->has_agenda(); ++turns) {
    if (turns > 100'000) return deps_.checks.Break("liveness: the agenda never ends");
    // Other events may come between two steps.
    if (deps_.has_several && !deps_.faults.are_none() && deps_.random.Percent(10)) {
      After(absl::ZeroDuration(), [this] { Step(Tick{}); });
      break;
    }
    StepOnce(Tick{});
  }
  for (const auto& [package, blamed] : std::exchange(blamed_, {}))
    own_faults_->CheckBlamed(package, blamed.own_faults, blamed.what);
  // Done after the other work of this turn, as in DirectorShell's loop.
  if (!std::exchange(is_commit_due_, true)) {
    After(absl::ZeroDuration(), [this] {
      is_commit_due_ = false;
      BeginCommits();
    });
  }
  NoteMadeAgain();
  if (deps_.faults.Has(Fault::kUrgentAsked)) CheckUrgent();
  for (const auto& cook : asked_) {
    if (cook->told.told_late() > 0) deps_.checks.Break("safety: a cook is told behind its end");
  }
  // An end after the cook's own end is the director's failure as well. Workers keep their reports
  // for the next director.
  if (has_failed_late) callbacks_.ended({.infrastructure_error = persisted->error}, {});
}

void SimDirector::StepOnce(const Event& event) {
  std::vector<Effect> effects;
  core_->Step(deps_.schedule.now(), event, effects);
  core_->CheckInvariants();
  deps_.checks.decisions.Add(deps_.schedule.now(), effects);
  if (callbacks_.stepped) callbacks_.stepped(event, effects);
  CarryOut(effects);
}

void SimDirector::CarryOut(const std::vector<Effect>& effects) {
  // When the core places others' jobs, it knows already which workers drain, whatever it tells
  // first.
  for (const Effect& effect : effects) {
    const auto* desire = std::get_if<Desire>(&effect);
    if (desire != nullptr && desire->drain) own_faults_->Drain(NameOf(desire->worker));
  }
  for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
}

// The cook has begun when the core does something for it: not before the commits of the cook before
// it are over.
void SimDirector::BeginCook() {
  if (has_request_) own_faults_->BeginCook();
}

// Does what `galley clean` does: the journal forgets the packages, and so does the core.
void SimDirector::Clear(const std::vector<std::string>& packages) {
  tasks_.PostWithin(20, [this, packages] {
    if (!journal_.Forget(packages).ok()) return Step(DirectorUnfit{"forgetting: the journal"});
    Answer(10, [this, packages] {
      deps_.faults.Count(Fault::kPackagesCleared);
      deps_.checks.Trace("cleared", packages.size());
      Step(PackagesCleared{packages});
    });
  });
}

// The packages are forgiven at once, also when the cook is settled or about to end.
void SimDirector::Take(const PackagesCleared& cleared) {
  ForgetLost();
  for (const std::string& name : cleared.packages) deps_.checks.Trace("made again: " + name);
  if (has_request_) ForgiveCleared(cleared.packages);
}

void SimDirector::ForgiveCleared(const std::vector<std::string>& packages) {
  std::vector<std::string> changed = packages;
  for (const std::string& name : packages) {
    for (const std::string& one : deps_.world.At(name).generated)
      changed.push_back(name + "/" + one);
  }
  own_faults_->Change(WithReaders(std::move(changed)));
  own_faults_->Clear(packages);
}

std::set<std::string> SimDirector::WithReaders(std::vector<std::string> packages) const {
  std::set<std::string> all;
  while (!packages.empty()) {
    const std::string name = std::move(packages.back());
    packages.pop_back();
    const PackageId package = core_->Find(name);
    if (!all.insert(name).second || !package.valid()) continue;
    for (const InstigatorView& why : core_->InstigatorsOf(package)) {
      if (why.category == InstigatorCategory::kBuildDependency && why.referencer.valid())
        packages.push_back(core_->NameOf(why.referencer));
    }
  }
  return all;
}

bool SimDirector::Discover(const std::vector<std::string>& ids, InstigatorCategory category) {
  deps_.checks.Trace("discovered", ids.size(), category);
  is_too_late_ = false;
  Step(PackagesDiscovered{Select(ids, category), request_});
  return !is_too_late_;
}

void SimDirector::Note(const PackageFailed& failed) {
  const std::string& name = core_->NameOf(failed.package);
  has_ever_failed_ = true;
  has_failed_late_ |= has_published_;
  deps_.checks.Trace("failed " + name + ": " + failed.error);
  if (failed.error.empty()) deps_.checks.Break("safety: a failure without a reason: " + name);
  if (failed.cause == FailureCause::kPackage || failed.cause == FailureCause::kLimit)
    own_faults_->CheckQuarantined(name);
}

// The worker attaches again, and is let in only to hear that it must end.
void SimDirector::EndStreamOf(const WorkerViolated& violated) {
  const std::string name = NameOf(violated.worker);
  deps_.checks.Trace("ended " + name);
  own_faults_->MayCountLess();
  own_faults_->Lose(name);
  const auto stream = streams_.find(name);
  if (stream == streams_.end()) return;
  const uint64_t ended = stream->second;
  streams_.erase(stream);
  tasks_.PostWithin(1, [this, ended] { callbacks_.hang_up(ended); });
}

void SimDirector::Do(const Notify& effect) {
  if (const auto* failed = std::get_if<PackageFailed>(&effect.notice)) {
    Note(*failed);
  } else {
    deps_.checks.Trace("notice", effect.notice.index());
  }
  if (const auto* done = std::get_if<PackageDone>(&effect.notice)) {
    const Digest& key = results_.Get(done->result)->action_key;
    if (!store_.IsSafe(key) && !deps_.checks.voided.contains(key))
      deps_.checks.Break("safety: done before it is durable: " + core_->NameOf(done->package));
    if (done->source == ResultSource::kCooked && !is_forced_ && kept_.contains(key) &&
        !deps_.faults.Has(Fault::kCookedOtherwise) &&
        results_.Get(done->result)->source != Digest::Of(kFalseSource))
      deps_.checks.Break("safety: said to be cooked though it was kept: " +
                         core_->NameOf(done->package));
  }
  if (const auto* warned = std::get_if<PackageWarned>(&effect.notice))
    is_too_late_ |= warned->text.starts_with("is asked for too late");
  if (const auto* blamed = std::get_if<PackageBlamed>(&effect.notice)) {
    BeginCook();
    blamed_[core_->NameOf(blamed->package)] = *blamed;
  }
  if (const auto* odd = std::get_if<WorkerQuarantined>(&effect.notice)) {
    quarantined_.insert(NameOf(odd->worker));
    own_faults_->Lose(NameOf(odd->worker));
  }
  if (const auto* violated = std::get_if<WorkerViolated>(&effect.notice)) EndStreamOf(*violated);
  if (std::holds_alternative<CookEnded>(effect.notice)) {
    has_request_ = false;
    own_faults_->EndCook();
    // A failure of a package that is made again, after roots were published, ends no cook.
    has_failed_ = core_->counters().results_failed > 0 && !has_failed_late_;
  }
  own_->notices.Tell(effect);
}

}  // namespace galley::simulation
