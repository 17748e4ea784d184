#include "director/core/core.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley::director {

Core::Core(const CookOptions& cook_options, std::shared_ptr<const Catalog> first_catalog)
    : options(cook_options),
      catalog(std::move(first_catalog)),
      platform_count(cook_options.platform_count),
      workers({.window = cook_options.window,
               .jobs_max = cook_options.window_jobs_max,
               .silence_max = cook_options.silence_max,
               .start_max = cook_options.start_max,
               .survivor_max = cook_options.survivor_max,
               .suspect_after = cook_options.suspect_after}),
      grants(cook_options.resources),
      placing(*this, cook_options.policy) {
  GALLEY_CHECK(platform_count >= 1 && platform_count <= 32);
  GALLEY_CHECK(catalog != nullptr);
  GALLEY_CHECK(options.silence_max > absl::ZeroDuration() &&
               options.silence_max < absl::InfiniteDuration());
}

void Core::Apply(const Event& event) {
  struct Dispatcher {
    Core& core;
    Cook& cook;
    void operator()(const CookRequested& e) { core.cooks.OnCookRequested(e); }
    void operator()(const CancelRequested&) { core.cooks.OnCancelRequested(); }
    void operator()(const LookedUp& e) { core.looking_up.OnLookedUp(e); }
    void operator()(const WorkersSurvived& e) { core.survivors.OnWorkersSurvived(e); }
    void operator()(const WorkerAttached& e) { core.worker_lives.OnWorkerAttached(e); }
    void operator()(const WorkerReported& e) { core.reports.OnWorkerReported(e); }
    void operator()(const WorkerPending& e) { core.worker_lives.OnWorkerPending(e); }
    void operator()(const WorkerAlive& e) { core.worker_lives.OnWorkerAlive(e); }
    void operator()(const WorkerUnfit& e) { core.worker_lives.OnWorkerUnfit(e); }
    void operator()(const WorkerLost& e) { core.worker_lives.OnWorkerLost(e); }
    void operator()(const Persisted& e) { core.commits.OnPersisted(e); }
    void operator()(const DirectorUnfit& e) { core.cooks.OnDirectorUnfit(e); }
    void operator()(const FilesChanged& e) { core.cooks.graph().changes.OnFilesChanged(e); }
    void operator()(const PackagesDiscovered& e) { cook.selection.OnPackagesDiscovered(e); }
    void operator()(const PackagesCleared& e) { core.cooks.graph().changes.OnPackagesCleared(e); }
    void operator()(const PlatformsChanged& e) { core.cooks.graph().changes.OnPlatformsChanged(e); }
    void operator()(const LauncherReported& e) { core.worker_lives.OnLauncherReported(e); }
    void operator()(const RootBuilt& e) { cook.roots.OnRootBuilt(e); }
    void operator()(const RootPublished& e) { cook.roots.OnRootPublished(e); }
    void operator()(const RootsStaged& e) { cook.roots.OnRootsStaged(e); }
    void operator()(const LossSeen& e) { cook.losing.OnLossSeen(e); }
    void operator()(const LostFound& e) { cook.losing.OnLostFound(e); }
    void operator()(const QueryAsked& e) { core.asking.OnQueryAsked(e); }
    void operator()(const Tick&) {}
  };
  std::visit(Dispatcher{*this, cooks.current()}, event);
}

void Core::Step(absl::Time time, const Event& event, std::vector<Effect>& effects) {
  GALLEY_CHECK(time >= now);
  awake += std::min(time - now, options.silence_max / 8);
  now = time;
  cooks.current().tally.monitor.Advance(now);
  Apply(event);
  worker_lives.LoseTheSilent();
  cooks.graph().lifecycle.Release(now);
  RunAgenda();
  looking_up.SendLookUps();
  dispatching.HandOverAll();
  cooks.GoOn();
  turn.Flush(effects);
}

void Core::RunAgenda() {
  Cook& cook = cooks.current();
  Graph& graph = cooks.graph();
  if (cook.is_ending()) return;
  size_t units = cook.selection.SelectSome(options.units_per_step);
  units += following.GoOnWithFollowers(options.units_per_step -
                                       std::min<size_t>(units, options.units_per_step));
  while (!graph.agenda.empty() && units < options.units_per_step) units += Run(graph.agenda.Pop());
  exploring.RankAnewIfDue();
}

size_t Core::Run(const AgendaItem& item) {
  switch (item.kind) {
    case AgendaItem::Kind::kBegin:
      cooks.graph().claims.Begin(item.package);
      return 1;
    case AgendaItem::Kind::kExplore:
      return exploring.Explore(item.package, item.platform);
    case AgendaItem::Kind::kWake:
      waiting.EvaluateWaits(item.package);
      return 1;
  }
  return 1;
}

bool Core::HasAgenda() const { return cooks.HasAgenda(); }

bool Core::HasJobs() const { return !cooks.current().is_ending() && dispatching.HasLoadWork(); }

Progress Core::ViewProgress() const {
  const auto slots = static_cast<uint32_t>(workers.slots());
  Progress view = cooks.current().tally.monitor.View(slots > 0 ? slots : options.workers);
  view.pending = static_cast<uint32_t>(workers.pending());
  stragglers.FindLongest(view);
  return view;
}

void Core::CheckInvariants() const {
  const Cook& cook = cooks.current();
  const Graph& graph = cooks.graph();
  graph.lifecycle.CheckInvariants();
  cook.CheckTally();
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
  if (!cook.is_over()) return;
  // Nothing of a cook that is over is held for it.
  GALLEY_CHECK(graph.lifecycle.in_works() == 0 && graph.agenda.empty());
  GALLEY_CHECK(workers.jobs_in_hand() == 0 && attempts.backups() == 0);
}

}  // namespace galley::director
