#include "director/core/core.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "common/base/status_macros.h"

namespace galley::director {

void Core::Apply(const Event& event) {
  struct Handlers {
    Core& core;
    void operator()(const CookRequested& e) { core.cooks.table.OnCookRequested(e); }
    void operator()(const CancelRequested& e) { core.cooks.table.OnCancelRequested(e); }
    void operator()(const PackageAsked& e) { core.cooks.asks.OnPackageAsked(e); }
    void operator()(const AskWithdrawn& e) { core.cooks.asks.OnAskWithdrawn(e); }
    void operator()(const LookedUp& e) { core.jobs.cache_queries.OnLookedUp(e); }
    void operator()(const WorkersSurvived& e) { core.workers.survivors.OnWorkersSurvived(e); }
    void operator()(const WorkerAttached& e) { core.workers.worker_lifecycle.OnWorkerAttached(e); }
    void operator()(const WorkerReported& e) { core.reports.reports.OnWorkerReported(e); }
    void operator()(const WorkerPending& e) { core.workers.worker_lifecycle.OnWorkerPending(e); }
    void operator()(const WorkerUploads& e) { core.workers.worker_lifecycle.OnWorkerUploads(e); }
    void operator()(const WorkerAlive& e) { core.workers.worker_lifecycle.OnWorkerAlive(e); }
    void operator()(const WorkerUnfit& e) { core.workers.worker_lifecycle.OnWorkerUnfit(e); }
    void operator()(const WorkerReadmitted& e) { core.workers.held_results.Readmit(e.worker); }
    void operator()(const DrainAsked& e) { core.workers.worker_lifecycle.OnDrainAsked(e); }
    void operator()(const WorkerLost& e) { core.workers.worker_lifecycle.OnWorkerLost(e); }
    void operator()(const Persisted& e) { core.reports.commit_outcomes.OnPersisted(e); }
    void operator()(const DirectorUnfit& e) { core.EndAll(e.reason); }
    void operator()(const CookUnfit& e) { core.cooks.table.OnCookUnfit(e); }
    void operator()(const MemoryShort&) { core.cooks.table.OnMemoryShort(); }
    void operator()(const FilesChanged& e) {
      core.cooks.asks.OnFilesChanged(e);
      core.cooks.project_changes.OnFilesChanged(e);
    }
    void operator()(const PackagesDiscovered& e) { core.cooks.table.OnPackagesDiscovered(e); }
    void operator()(const PackagesCleared& e) {
      core.cooks.asks.ForgetFailures(e.packages);
      core.cooks.project_changes.OnPackagesCleared(e);
    }
    void operator()(const PlatformsChanged& e) {
      if (e.files.has_value()) core.cooks.asks.OnFilesChanged(*e.files);
      core.cooks.project_changes.OnPlatformsChanged(e);
      core.cooks.asks.Remap(PlatformMap(e.mapping));
    }
    void operator()(const LauncherReported& e) {
      core.workers.worker_lifecycle.OnLauncherReported(e);
    }
    void operator()(const RootBuilt& e) { core.cooks.table.OnRootBuilt(e); }
    void operator()(const RootPublished& e) { core.cooks.table.OnRootPublished(e); }
    void operator()(const RootsStaged& e) { core.cooks.table.OnRootsStaged(e); }
    void operator()(const LossSeen& e) { core.cooks.table.OnLossSeen(e); }
    void operator()(const LostFound& e) { core.cooks.table.OnLostFound(e); }
    void operator()(const QueryAsked& e) { core.cooks.queries.OnQueryAsked(e); }
    void operator()(const Tick&) {}
  };
  std::visit(Handlers{*this}, event);
}

void Core::EndAll(const std::string& infrastructure_error) {
  cooks.table.EndAll(infrastructure_error);
  cooks.asks.EndAll(infrastructure_error);
}

// Hands on the notes kind by kind; notes that a handler leaves are handed on in the next round. A
// leader of equal work is as urgent as its followers, so that it may be less urgent without some.
void Core::HandOnNotes() {
  while (!packages.notes.empty() || packages.graph.lifecycle().equal_work().has_left()) {
    const absl::btree_set<PackageId> left = packages.graph.lifecycle().equal_work().TakeLeft();
    if (!left.empty()) jobs.claims.LowerUrgencies({left.begin(), left.end()});
    const Notes now = std::exchange(packages.notes, {});
    for (const AttemptEnded& note : now.attempts_ended)
      workers.breakers.NoteEnded(note.worker, note.attempt);
    for (const LossSuspected& note : now.losses_suspected) cooks.table.OnLossSuspected(note);
    for (const UrgencyRaised& note : now.urgencies_raised)
      workers.load_balancer.TakeForward(note.package);
    for (const PackageReady& note : now.packages_ready)
      workers.parked_jobs.ParkBeyondFleet(note.package);
    for (const AskSettled& note : now.asks_settled) cooks.asks.OnAskSettled(note);
    for (const AheadDisplaced& note : now.ahead_displaced) cooks.asks.OnAheadDisplaced(note);
    for (const CooksFailed& note : now.cooks_failed) EndAll(note.infrastructure_error);
  }
}

void Core::Step(absl::Time time, const Event& event, std::vector<Effect>& effects) {
  GALLEY_CHECK(time >= packages.step.now);
  packages.step.awake += std::min(time - packages.step.now, packages.options.silence_max / 8);
  packages.step.now = time;
  cooks.table.Advance();
  jobs.resumed_attempts.ForgetUnheard();
  jobs.worker_table.ForgetLost(packages.step.awake);
  const size_t units = cooks.table.ReleaseClaims(packages.options.units_per_step);
  Apply(event);
  HandOnNotes();
  workers.worker_lifecycle.LoseTheSilent();
  HandOnNotes();
  packages.graph.lifecycle().Release(packages.step.now);
  cooks.table.GiveUp();
  cooks.asks.TakeUpDeferred();
  RunAgenda(units);
  cooks.table.GiveUp();
  workers.proofs.Sweep();
  jobs.cache_queries.SendLookUps();
  workers.breakers.Look();
  HandOnNotes();
  workers.dispatcher.HandOverAll();
  HandOnNotes();
  workers.fleet.LetIdleGo();
  cooks.table.GoOn();
  cooks.table.BeginNext();
  HandOnNotes();
  packages.effects.Flush(effects);
}

void Core::RunAgenda(size_t units) {
  if (packages.claimants.masks().active == 0) return;
  const auto left = [&] {
    return packages.options.units_per_step -
           std::min<size_t>(units, packages.options.units_per_step);
  };
  units += cooks.table.SelectSome(left());
  units += jobs.package_progress.GoOnWithFollowers(left());
  while (!packages.graph.agenda().empty() && left() > 0) {
    units += RunNext();
    HandOnNotes();
  }
  HandOnNotes();
  packages.graph.RankAnewIfDue();
}

size_t Core::RunNext() {
  const AgendaItem item = packages.graph.Pop();
  // An item for cooks that were stopped is made anew when another cook wants the package.
  if (!packages.claimants.IsWanted(item.package) && item.kind != AgendaItem::Kind::kWake) return 1;
  switch (item.kind) {
    case AgendaItem::Kind::kBegin:
      cooks.package_admission.Begin(item.package);
      return 1;
    case AgendaItem::Kind::kExplore:
      return cooks.graph_exploration.Explore(item.package, item.platform);
    case AgendaItem::Kind::kWake:
      jobs.wait_evaluation.EvaluateWaits(item.package);
      return 1;
    case AgendaItem::Kind::kSpread:
      return jobs.claims.Spread(item.package);
  }
  return 1;
}

bool Core::HasAgenda() const { return cooks.table.HasAgenda(); }

bool Core::HasJobs() const {
  return packages.claimants.masks().active != 0 && workers.job_queue.HasLoadWork();
}

Progress Core::ViewProgress(const Claimant& cook) const {
  const auto slots = static_cast<uint32_t>(jobs.worker_table.attached().slots());
  std::vector<RunningJob> running;
  if (!cook.is_settling) running = workers.stragglers.RunningOf(cook.bit());
  Progress view =
      cook.shown_tally().monitor.View(slots > 0 ? slots : workers.fleet.most(), running);
  // The jobs that are left wait for a worker that may never come.
  const Lifecycle& lifecycle = packages.graph.lifecycle();
  if (running.empty() && lifecycle.queues().loads().empty() && !lifecycle.queues().parked().empty())
    view.left.reset();
  view.pending = static_cast<uint32_t>(jobs.worker_table.attached().pending());
  workers.stragglers.FindLongest(view);
  return view;
}

CoreFigures Core::ViewFigures() {
  CoreFigures view = packages.counts.figures;
  packages.claimants.ForEachOf(packages.claimants.masks().running, [&](const Claimant& cook) {
    auto& of_class = view.packages[static_cast<size_t>(cook.request.of_class)];
    for (size_t state = 0; state < kStateCount; ++state)
      of_class[state] += cook.shown_tally().monitor.In(static_cast<State>(state));
  });
  Lifecycle& lifecycle = packages.graph.lifecycle();
  view.ready = lifecycle.queues().loads().wanted_size();
  for (const auto& [cooker, queue] : lifecycle.queues().parked()) view.parked += queue.size();
  view.stalled = lifecycle.queues().saves().size();
  view.held = workers.breakers.held();
  if (const std::optional<absl::Time> since = lifecycle.ReadySince())
    view.oldest_ready = packages.step.now - *since;
  return view;
}

void Core::CheckInvariants() const {
  packages.graph.lifecycle().CheckInvariants();
  cooks.table.CheckTallies();
  packages.claimants.ForEachOf(packages.claimants.masks().running, [](const Claimant& cook) {
    GALLEY_CHECK(cook.is_settling == (cook.manifest != nullptr));
  });
  for (uint32_t i = 0; i < packages.table.size(); ++i) {
    const PackageId id(i);
    const PackageData& package = packages.table[id];
    GALLEY_CHECK((package.asked != 0) == ((package.cooks & kAsksBit) != 0));
    GALLEY_CHECK(package.asked == 0 || packages.claimants.is_asking());
    GALLEY_CHECK((package.asked_now & ~package.asked) == 0);
    GALLEY_CHECK(package.urgency != Urgency::kSpare || package.asked_now == 0);
    // No change waits for a settled cook.
    GALLEY_CHECK(!package.is_outdated ||
                 (package.is_in_cook() && !packages.claimants.IsWanted(id)));
    if (package.work == nullptr) continue;
    jobs.attempts.CheckInvariants(id);
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      const bool is_in_hand = package.slots[p].phase == Phase::kInHand;
      GALLEY_CHECK(!is_in_hand || (jobs.attempts.StillInHand(id) & MaskOf(p)) != 0);
      const bool is_committing = package.slots[p].phase == Phase::kCommitting;
      GALLEY_CHECK(!is_committing || jobs.commits.Has(id, p));
    }
  }
  jobs.worker_table.CheckInvariants();
  jobs.attempts.CheckHands();
  workers.eligibility.CheckInvariants();
  if (packages.claimants.masks().running != 0) return;
  // Nothing of a cook that is over is held for it.
  GALLEY_CHECK(packages.graph.lifecycle().in_works() == 0 && packages.graph.agenda().empty());
  GALLEY_CHECK(jobs.worker_table.attached().jobs_in_hand() == 0 && jobs.attempts.backups() == 0 &&
               jobs.worker_table.attached().spare_in_hand() == 0 && workers.held_results.empty());
}

}  // namespace galley::director
