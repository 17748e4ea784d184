#include "director/core/cook_core.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "director/core/cook_core_impl.h"

namespace galley::director {

CookCore::Impl::Impl(const CookOptions& cook_options, std::shared_ptr<const Catalog> first_catalog)
    : options(cook_options),
      catalog(std::move(first_catalog)),
      platform_count(cook_options.platform_count),
      grants(cook_options.resources),
      workers({.window = cook_options.window,
               .jobs_max = cook_options.window_jobs_max,
               .silence_max = cook_options.silence_max,
               .start_max = cook_options.start_max,
               .survivor_max = cook_options.survivor_max,
               .suspect_after = cook_options.suspect_after}),
      policy(MakePolicy(cook_options.policy)) {
  GALLEY_CHECK(platform_count >= 1 && platform_count <= 32);
  GALLEY_CHECK(catalog != nullptr);
  GALLEY_CHECK(options.silence_max > absl::ZeroDuration() &&
               options.silence_max < absl::InfiniteDuration());
}

void CookCore::Impl::Apply(const Event& event) {
  struct Dispatcher {
    Impl& core;
    void operator()(const CookRequested& e) { core.OnCookRequested(e); }
    void operator()(const CancelRequested&) { core.OnCancelRequested(); }
    void operator()(const LookedUp& e) { core.OnLookedUp(e); }
    void operator()(const WorkersSurvived& e) { core.OnWorkersSurvived(e); }
    void operator()(const WorkerAttached& e) { core.OnWorkerAttached(e); }
    void operator()(const WorkerReported& e) { core.OnWorkerReported(e); }
    void operator()(const WorkerPending& e) { core.OnWorkerPending(e); }
    void operator()(const WorkerAlive& e) { core.OnWorkerAlive(e); }
    void operator()(const WorkerUnfit& e) { core.OnWorkerUnfit(e); }
    void operator()(const WorkerLost& e) { core.OnWorkerLost(e); }
    void operator()(const Persisted& e) { core.OnPersisted(e); }
    void operator()(const FilesChanged& e) { core.OnFilesChanged(e); }
    void operator()(const PackagesDiscovered& e) { core.OnPackagesDiscovered(e); }
    void operator()(const PackagesCleared& e) { core.OnPackagesCleared(e); }
    void operator()(const PlatformsChanged& e) { core.OnPlatformsChanged(e); }
    void operator()(const LauncherReported& e) { core.OnLauncherReported(e); }
    void operator()(const RootBuilt& e) { core.OnRootBuilt(e); }
    void operator()(const RootPublished& e) { core.OnRootPublished(e); }
    void operator()(const RootsStaged& e) { core.OnRootsStaged(e); }
    void operator()(const LossSeen& e) { core.OnLossSeen(e); }
    void operator()(const LostFound& e) { core.OnLostFound(e); }
    void operator()(const QueryAsked& e) { core.OnQueryAsked(e); }
    void operator()(const Tick&) {}
  };
  std::visit(Dispatcher{*this}, event);
}

void CookCore::Impl::Step(absl::Time time, const Event& event, std::vector<Effect>& effects) {
  GALLEY_CHECK(time >= now);
  awake += std::min(time - now, options.silence_max / 8);
  now = time;
  monitor.Advance(now);
  Apply(event);
  LoseTheSilent();
  lifecycle.Release(now);
  RunAgenda();
  SendLookUps();
  Dispatch();
  MaybeEnd();
  Flush(effects);
}

void CookCore::Impl::RunAgenda() {
  if (ending != Ending::kNone) return;
  size_t units = SelectSome(options.units_per_step);
  units +=
      GoOnWithFollowers(options.units_per_step - std::min<size_t>(units, options.units_per_step));
  while (!agenda.empty() && units < options.units_per_step) units += Run(agenda.Pop());
  RankAnewIfDue();
}

size_t CookCore::Impl::Run(const AgendaItem& item) {
  switch (item.kind) {
    case AgendaItem::Kind::kBegin:
      Begin(item.package);
      return 1;
    case AgendaItem::Kind::kExplore:
      return Explore(item.package, item.platform);
    case AgendaItem::Kind::kWake:
      EvaluateWaits(item.package);
      return 1;
  }
  return 1;
}

bool CookCore::Impl::HasAgenda() const {
  if (!request.has_value()) return !waiting_requests.empty() && commits.empty();
  if (ending != Ending::kNone) return false;
  return !agenda.empty() || lifecycle.equal_work().has_freed() ||
         selected_next < request->selected.size() || (IsQuiet() && !is_settling);
}

void CookCore::Impl::Flush(std::vector<Effect>& effects) {
  for (Reply& reply : turn.replies) effects.push_back(std::move(reply));
  if (!turn.persist.empty() || turn.is_persist_urgent)
    effects.push_back(Persist{std::move(turn.persist), turn.is_persist_urgent});
  if (!turn.rescans.empty()) effects.push_back(Rescan{std::move(turn.rescans)});
  for (const director::Stop& stop : turn.stops) effects.push_back(stop);
  for (auto& [worker, desire] : turn.desires) effects.push_back(std::move(desire));
  for (Spawn& spawn : turn.spawns) effects.push_back(spawn);
  for (Notice& notice : turn.notices) effects.push_back(Notify{std::move(notice)});
  // A limit is kept when it is told, and equal work may be looked up in the same step.
  if (!turn.look_ups.empty()) effects.push_back(LookUp{std::move(turn.look_ups)});
  for (Effect& root : turn.roots) effects.push_back(std::move(root));
  turn = Turn();
}

void CookCore::Impl::CheckInvariants() const {
  lifecycle.CheckInvariants();
  for (uint32_t i = 0; i < packages.size(); ++i) {
    const PackageData& package = packages[PackageId(i)];
    if (package.work == nullptr) continue;
    CheckAttempts(PackageId(i));
    for (size_t p = 0; p < package.slots.size(); ++p) {
      const bool is_in_hand = package.slots[p].phase == Phase::kInHand;
      GALLEY_CHECK(!is_in_hand ||
                   (StillInHand(PackageId(i)) & MaskOf(static_cast<PlatformIndex>(p))) != 0);
      const bool is_committing = package.slots[p].phase == Phase::kCommitting;
      GALLEY_CHECK(!is_committing || IsBeingCommitted(PackageId(i), static_cast<PlatformIndex>(p)));
    }
  }
  workers.CheckInvariants();
  uint64_t backups_held = 0;
  for (const WorkerId id : workers.Holding()) {
    absl::Duration expected;
    for (const AttemptId attempt : workers.Find(id)->hand.All()) {
      const Attempt& held = attempts.at(attempt);
      const Work& work = *packages[held.package].work;
      GALLEY_CHECK(held.is_current && held.worker == id);
      const auto beside = std::find(work.others.begin(), work.others.end(), attempt);
      GALLEY_CHECK((work.attempt == attempt) != (beside != work.others.end()));
      GALLEY_CHECK(!held.is_backup || work.attempt != attempt);
      backups_held += held.is_backup;
      if (!workers.Find(id)->hand.IsPending(attempt)) expected += held.expected;
    }
    GALLEY_CHECK(expected == workers.Find(id)->hand.expected());
  }
  GALLEY_CHECK(backups_held == backups);
  if (request.has_value()) return;
  // Nothing of a cook that is over is held for it.
  GALLEY_CHECK(lifecycle.in_works() == 0 && agenda.empty());
  GALLEY_CHECK(workers.jobs_in_hand() == 0 && backups == 0);
}

bool CookCore::Impl::IsBeingCommitted(PackageId id, PlatformIndex platform) const {
  const ResultId result = packages[id].slots[platform].result->id;
  for (auto at = commits.lower_bound({id, result, 0});
       at != commits.end() && std::get<0>(at->first) == id && std::get<1>(at->first) == result;
       ++at) {
    if (at->second.platform == platform) return true;
  }
  return false;
}

void CookCore::Impl::CheckAttempts(PackageId id) const {
  const Work& work = *packages[id].work;
  bool is_loaded = false;
  for (const AttemptId current : AttemptsAt(id)) {
    const auto attempt = attempts.find(current);
    GALLEY_CHECK(attempt != attempts.end() && attempt->second.is_current &&
                 attempt->second.package == id);
    GALLEY_CHECK(workers.Find(attempt->second.worker)->hand.Contains(current));
    is_loaded |= attempt->second.is_loaded;
  }
  GALLEY_CHECK(work.is_loaded == is_loaded);
  GALLEY_CHECK(work.attempt != 0 || work.others.empty());
  for (const AttemptId other : work.others) {
    const Attempt& beside = attempts.at(other);
    GALLEY_CHECK(beside.group == 0);
    GALLEY_CHECK(!beside.is_backup ||
                 (work.others.size() == 1 && beside.worker != attempts.at(work.attempt).worker));
  }
}

CookCore::CookCore(const CookOptions& options, std::shared_ptr<const Catalog> catalog,
                   uint64_t /*seed*/)
    : impl_(std::make_unique<Impl>(options, std::move(catalog))) {}
CookCore::~CookCore() = default;

void CookCore::Step(absl::Time now, const Event& event, std::vector<Effect>& effects) {
  impl_->Step(now, event, effects);
}
bool CookCore::has_agenda() const { return impl_->HasAgenda(); }
bool CookCore::has_jobs() const { return !impl_->IsEnding() && impl_->HasLoadWork(); }
const Counters& CookCore::counters() const { return impl_->counters; }
Progress CookCore::progress() const {
  const auto slots = static_cast<uint32_t>(impl_->workers.slots());
  Progress view = impl_->monitor.View(slots > 0 ? slots : impl_->options.workers);
  view.pending = static_cast<uint32_t>(impl_->workers.pending());
  impl_->FindLongest(view);
  return view;
}
size_t CookCore::package_count() const { return impl_->packages.size(); }
const std::string& CookCore::NameOf(PackageId package) const { return impl_->NameOf(package); }
PackageId CookCore::Find(std::string_view name_or_file) const {
  const PackageId package = impl_->packages.Find(name_or_file);
  return package.valid() ? package : impl_->packages.Find(impl_->NameAsked(name_or_file));
}

std::vector<InstigatorView> CookCore::InstigatorsOf(PackageId package) const {
  std::vector<InstigatorView> reasons;
  impl_->edges.ForEachInstigator(package,
                                 [&](const InstigatorView& why) { reasons.push_back(why); });
  return reasons;
}

const record::Generated* CookCore::GeneratedOf(PackageId package) const {
  return impl_->packages[package].generated.get();
}

std::string CookCore::StateText(PackageId id) const { return impl_->StateTextOf(id); }

void CookCore::CheckInvariants() const { impl_->CheckInvariants(); }

}  // namespace galley::director
