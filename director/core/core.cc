#include "director/core/core.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {

Core::Core(const CookOptions& cook_options, std::shared_ptr<const Catalog> first_catalog)
    : options(cook_options),
      step{.catalog = std::move(first_catalog), .platform_count = cook_options.platform_count},
      workers({.window = cook_options.window,
               .jobs_max = cook_options.window_jobs_max,
               .silence_max = cook_options.silence_max,
               .start_max = cook_options.start_max,
               .survivor_max = cook_options.survivor_max,
               .suspect_after = cook_options.suspect_after,
               .lost_max = cook_options.unheard_max}),
      grants(cook_options.resources) {
  GALLEY_CHECK(step.platform_count >= 1 && step.platform_count <= 32);
  GALLEY_CHECK(step.catalog != nullptr);
  GALLEY_CHECK(options.silence_max > absl::ZeroDuration() &&
               options.silence_max < absl::InfiniteDuration());
}

void Core::Apply(const Event& event) {
  struct Handlers {
    Core& core;
    void operator()(const CookRequested& e) { core.cooks.OnCookRequested(e); }
    void operator()(const CancelRequested& e) { core.cooks.OnCancelRequested(e); }
    void operator()(const LookedUp& e) { core.cache_queries.OnLookedUp(e); }
    void operator()(const WorkersSurvived& e) { core.survivors.OnWorkersSurvived(e); }
    void operator()(const WorkerAttached& e) { core.worker_lifecycle.OnWorkerAttached(e); }
    void operator()(const WorkerReported& e) { core.reports.OnWorkerReported(e); }
    void operator()(const WorkerPending& e) { core.worker_lifecycle.OnWorkerPending(e); }
    void operator()(const WorkerUploads& e) { core.worker_lifecycle.OnWorkerUploads(e); }
    void operator()(const WorkerAlive& e) { core.worker_lifecycle.OnWorkerAlive(e); }
    void operator()(const WorkerUnfit& e) { core.worker_lifecycle.OnWorkerUnfit(e); }
    void operator()(const WorkerReadmitted& e) { core.held_results.Readmit(e.worker); }
    void operator()(const DrainAsked& e) { core.worker_lifecycle.OnDrainAsked(e); }
    void operator()(const WorkerLost& e) { core.worker_lifecycle.OnWorkerLost(e); }
    void operator()(const Persisted& e) { core.commit_outcomes.OnPersisted(e); }
    void operator()(const DirectorUnfit& e) { core.cooks.EndAll(e.reason); }
    void operator()(const CookUnfit& e) { core.cooks.OnCookUnfit(e); }
    void operator()(const MemoryShort&) { core.cooks.OnMemoryShort(); }
    void operator()(const FilesChanged& e) { core.project_changes.OnFilesChanged(e); }
    void operator()(const PackagesDiscovered& e) { core.cooks.OnPackagesDiscovered(e); }
    void operator()(const PackagesCleared& e) { core.project_changes.OnPackagesCleared(e); }
    void operator()(const PlatformsChanged& e) { core.project_changes.OnPlatformsChanged(e); }
    void operator()(const LauncherReported& e) { core.worker_lifecycle.OnLauncherReported(e); }
    void operator()(const RootBuilt& e) { core.cooks.OnRootBuilt(e); }
    void operator()(const RootPublished& e) { core.cooks.OnRootPublished(e); }
    void operator()(const RootsStaged& e) { core.cooks.OnRootsStaged(e); }
    void operator()(const LossSeen& e) { core.cooks.OnLossSeen(e); }
    void operator()(const LostFound& e) { core.cooks.OnLostFound(e); }
    void operator()(const QueryAsked& e) { core.queries.OnQueryAsked(e); }
    void operator()(const Tick&) {}
  };
  std::visit(Handlers{*this}, event);
}

// Each kind in turn; what a handler leaves of another kind is handed on in the next round.
void Core::HandOnNotes() {
  while (!notes.empty()) {
    const Notes now = std::exchange(notes, {});
    for (const AttemptEnded& note : now.attempts_ended)
      breakers.NoteEnded(note.worker, note.attempt);
    for (const RoundBegan& note : now.rounds_begun) project_changes.OnRoundBegan(note);
    for (const UrgencyRaised& note : now.urgencies_raised) load_balancer.TakeForward(note.package);
    for (const PackageReady& note : now.packages_ready) parked_jobs.ParkBeyondFleet(note.package);
    for (const CooksFailed& note : now.cooks_failed) cooks.EndAll(note.infrastructure_error);
  }
}

void Core::Step(absl::Time time, const Event& event, std::vector<Effect>& effects) {
  GALLEY_CHECK(time >= step.now);
  step.awake += std::min(time - step.now, options.silence_max / 8);
  step.now = time;
  cooks.Advance();
  resumed_attempts.ForgetUnheard();
  workers.ForgetLost(step.awake);
  const size_t units = cooks.LetGo(options.units_per_step);
  Apply(event);
  HandOnNotes();
  worker_lifecycle.LoseTheSilent();
  HandOnNotes();
  graph.lifecycle().Release(step.now);
  cooks.GiveUp();
  RunAgenda(units);
  cooks.GiveUp();
  proofs.Sweep();
  cache_queries.SendLookUps();
  breakers.Look();
  HandOnNotes();
  dispatcher.HandOverAll();
  HandOnNotes();
  fleet.LetIdleGo();
  cooks.GoOn();
  project_changes.TakeLate();
  cooks.BeginNext();
  HandOnNotes();
  effect_batch.Flush(effects);
}

void Core::RunAgenda(size_t units) {
  if (claimants.masks().active == 0) return;
  const auto left = [&] {
    return options.units_per_step - std::min<size_t>(units, options.units_per_step);
  };
  units += cooks.SelectSome(left());
  units += package_progress.GoOnWithFollowers(left());
  while (!graph.agenda().empty() && left() > 0) {
    units += RunNext();
    HandOnNotes();
  }
  HandOnNotes();
  graph.RankAnewIfDue();
}

size_t Core::RunNext() {
  const AgendaItem item = graph.Pop();
  // An item for cooks that were stopped is made anew when another cook wants the package.
  if (!claimants.IsWanted(item.package) && item.kind != AgendaItem::Kind::kWake) return 1;
  switch (item.kind) {
    case AgendaItem::Kind::kBegin:
      package_admission.Begin(item.package);
      return 1;
    case AgendaItem::Kind::kExplore:
      return graph_exploration.Explore(item.package, item.platform);
    case AgendaItem::Kind::kWake:
      wait_evaluation.EvaluateWaits(item.package);
      return 1;
    case AgendaItem::Kind::kSpread:
      return claims.Spread(item.package);
  }
  return 1;
}

bool Core::HasAgenda() const { return cooks.HasAgenda(); }

bool Core::HasJobs() const { return claimants.masks().active != 0 && job_queue.HasLoadWork(); }

Progress Core::ViewProgress(const Claimant& cook) const {
  const auto slots = static_cast<uint32_t>(workers.attached().slots());
  const std::vector<RunningJob> running = stragglers.RunningOf(cook.bit());
  Progress view = cook.tally.monitor.View(slots > 0 ? slots : fleet.most(), running);
  // All that is left waits for a worker that may never come.
  const Lifecycle& lifecycle = graph.lifecycle();
  if (running.empty() && lifecycle.queues().loads().empty() && !lifecycle.queues().parked().empty())
    view.left.reset();
  view.pending = static_cast<uint32_t>(workers.attached().pending());
  stragglers.FindLongest(view);
  return view;
}

CoreFigures Core::ViewFigures() {
  CoreFigures view = counts.figures;
  claimants.ForEachOf(claimants.masks().running, [&](const Claimant& cook) {
    auto& of_class = view.packages[static_cast<size_t>(cook.request.of_class)];
    for (size_t state = 0; state < kStateCount; ++state)
      of_class[state] += cook.tally.monitor.In(static_cast<State>(state));
  });
  Lifecycle& lifecycle = graph.lifecycle();
  view.ready = lifecycle.queues().loads().size();
  for (const auto& [cooker, queue] : lifecycle.queues().parked()) view.parked += queue.size();
  view.stalled = lifecycle.queues().saves().size();
  view.held = breakers.held();
  if (const std::optional<absl::Time> since = lifecycle.queues().ReadySince())
    view.oldest_ready = step.now - *since;
  return view;
}

void Core::CheckInvariants() const {
  graph.lifecycle().CheckInvariants();
  cooks.CheckTallies();
  for (uint32_t i = 0; i < packages.size(); ++i) {
    const PackageId id(i);
    const PackageData& package = packages[id];
    if (package.work == nullptr) continue;
    attempts.CheckInvariants(id);
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      const bool is_in_hand = package.slots[p].phase == Phase::kInHand;
      GALLEY_CHECK(!is_in_hand || (attempts.StillInHand(id) & MaskOf(p)) != 0);
      const bool is_committing = package.slots[p].phase == Phase::kCommitting;
      GALLEY_CHECK(!is_committing || commits.Has(id, p));
    }
  }
  workers.CheckInvariants();
  attempts.CheckHands();
  eligibility.CheckInvariants();
  if (claimants.masks().running != 0) return;
  // Nothing of a cook that is over is held for it.
  GALLEY_CHECK(graph.lifecycle().in_works() == 0 && graph.agenda().empty());
  GALLEY_CHECK(workers.attached().jobs_in_hand() == 0 && attempts.backups() == 0 &&
               held_results.empty());
}

}  // namespace galley::director
