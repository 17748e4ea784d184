#include "director/core/cook_table.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/core/core.h"

namespace galley::director {

CookTable::CookTable(Core& core)
    : Part(core),
      nothing_(std::make_unique<Cook>(core)),
      last_(nothing_.get()),
      graph_(std::make_unique<Graph>(core)) {}

void CookTable::OnCookRequested(const CookRequested& event) {
  waiting_.push_back(event);
  if (CanBeginNext()) BeginNext();
}

// A cook that waits for its turn is over before it began.
void CookTable::OnCancelRequested(const CancelRequested& event) {
  if (Cook* cook = Find(event.request)) return cook->Stop(Cook::Ending::kInterrupted);
  const auto waiting = FindWaiting(event.request);
  if (waiting == waiting_.end()) return;
  EndUnbegun(*waiting, /*is_interrupted=*/true, "");
  waiting_.erase(waiting);
}

void CookTable::EndUnbegun(const CookRequested& waiting, bool is_interrupted,
                           const std::string& error) {
  Note(CookEnded{.request = waiting.request,
                 .is_interrupted = is_interrupted,
                 .is_fail_fast = false,
                 .infrastructure_error = error},
       0);
}

void CookTable::Discover(const std::vector<PackagesDiscovered>& all) {
  for (const PackagesDiscovered& one : all) {
    const Cook* const cook = Find(one.request);
    if (cook != nullptr ? cook->CanStillChange() : FindWaiting(one.request) != waiting_.end())
      OnPackagesDiscovered(one);
  }
}

void CookTable::OnPackagesDiscovered(const PackagesDiscovered& event) {
  Cook* const cook = Find(event.request);
  const auto waiting = FindWaiting(event.request);
  for (const SelectedPackage& one : event.packages) {
    const SelectedPackage selected{graph_->claims.NameAsked(one.name), one.category};
    if (cook != nullptr && cook->CanStillChange()) {
      cook->Select(selected);
    } else if (cook == nullptr && waiting != waiting_.end()) {
      waiting->selected.push_back(selected);
    } else {
      Note(PackageWarned{graph_->claims.FindOrAdd(selected.name), std::nullopt,
                         record::WarningKind::kAskedTooLate,
                         "is asked for too late: no cook runs that it could join",
                         /*is_passing=*/true},
           cook == nullptr ? 0 : cook->bit());
    }
  }
}

std::deque<CookRequested>::iterator CookTable::FindWaiting(uint64_t request) {
  return std::find_if(waiting_.begin(), waiting_.end(),
                      [&](const CookRequested& one) { return one.request == request; });
}

void CookTable::OnRootBuilt(const RootBuilt& event) {
  if (Cook* cook = Find(event.request)) cook->roots.OnRootBuilt(event);
}

void CookTable::OnRootPublished(const RootPublished& event) {
  if (Cook* cook = Find(event.request)) cook->roots.OnRootPublished(event);
}

void CookTable::OnRootsStaged(const RootsStaged& event) {
  if (Cook* cook = Find(event.request)) cook->roots.OnRootsStaged(event);
}

void CookTable::OnLossSeen(const LossSeen& event) {
  ForEachOf(active_, [&](Cook& cook) { cook.losing.OnLossSeen(event); });
}

void CookTable::OnLostFound(const LostFound& event) {
  ForEachOf(running_, [&](Cook& cook) { cook.losing.OnLostFound(event); });
}

void CookTable::EndAll(const std::string& infrastructure_error) {
  ForEachOf(running_, [&](Cook& cook) { cook.End(infrastructure_error); });
}

void CookTable::OnCookUnfit(const CookUnfit& event) {
  if (Cook* cook = Find(event.request)) cook->End(event.reason);
}

void CookTable::OnMemoryShort() {
  const bool is_named =
      !core_.commits.empty() || core_.attempts.size() != 0 || core_.survivors.names_packages();
  if (running_ != 0 || !waiting_.empty() || has_ended_ || is_named) return;
  last_ = nothing_.get();
  for (std::unique_ptr<Cook>& over : cooks_) over.reset();
  NoteState();
  core_.attempts.ForgetAllRetracted();
  core_.packages.Clear();
  graph_ = std::make_unique<Graph>(core_);
  ++graphs_;
}

void CookTable::Advance() {
  has_ended_ = false;
  ForEachOf(running_, [this](Cook& cook) { cook.tally.monitor.Advance(core_.now); });
}

void CookTable::NoteState() {
  running_ = active_ = open_ = forcing_ = fail_fast_ = follow_soft_ = over_ = 0;
  with_standing_ = 0;
  classes_ = 0;
  for (CookSlot slot = 0; slot < kCooksMax; ++slot) {
    if (cooks_[slot] == nullptr) continue;
    const Cook& cook = *cooks_[slot];
    const CookMask bit = BitOf(slot);
    if (cook.is_over() && !cook.is_let_go()) over_ |= bit;
    if (cook.is_over()) continue;
    running_ |= bit;
    if (!cook.is_ending()) {
      active_ |= bit;
      classes_ |= 1u << static_cast<uint32_t>(cook.request().of_class);
    }
    if (cook.CanStillChange()) open_ |= bit;
    if (cook.request().force) forcing_ |= bit;
    if (cook.FailsFast()) fail_fast_ |= bit;
    if (cook.request().follow_soft) follow_soft_ |= bit;
    if (cook.request().standing != nullptr) with_standing_ |= bit;
  }
}

size_t CookTable::LetGo(size_t units_max) {
  size_t units = 0;
  if (running_ == 0 || over_ == 0) return units;
  for (CookMask left = over_; left != 0 && units < units_max; left &= left - 1) {
    const auto slot = static_cast<CookSlot>(std::countr_zero(left));
    if (IsSabotaged(Sabotage::kKeepClaims)) continue;
    units += 1 + graph_->claims.LetGo(*cooks_[slot], units_max - units);
    if (cooks_[slot]->members().empty()) cooks_[slot]->SetLetGo();
  }
  NoteState();
  return units;
}

void CookTable::GiveUp() {
  if (!std::exchange(has_stopped_, false)) return;
  ForEachOf(running_, [](Cook& cook) {
    if (cook.is_ending()) cook.GiveUp();
  });
}

size_t CookTable::SelectSome(size_t units_max) {
  size_t units = 0;
  ForEachOf(active_, [&](Cook& cook) {
    if (units < units_max) units += cook.selection.SelectSome(units_max - units);
  });
  return units;
}

void CookTable::GoOn() {
  GiveUp();
  if (running_ == 0) {
    if (CanBeginNext()) BeginNext();
    return;
  }
  ForEachOf(running_, [](Cook& cook) { cook.GoOn(); });
  graph_->changes.TakeLate();
  while (running_ != 0 && CanBeginNext()) BeginNext();
}

bool CookTable::CanBeginNext() const {
  if (waiting_.empty()) return false;
  // Jobs that were in hand for the cooks before are not this one's.
  if (running_ == 0) return core_.commits.empty() && !has_ended_;
  const auto most = static_cast<int>(std::min(options_.cooks_max, kCooksMax));
  return std::popcount(running_ | over_) < most;
}

void CookTable::BeginNext() {
  CookRequested next = std::move(waiting_.front());
  waiting_.pop_front();
  core_.worker_lives.BeginCook();
  if (running_ == 0) {
    core_.attempts.ForgetAllRetracted();
    core_.proofs.ForgetUnproven();
    for (const std::unique_ptr<Cook>& over : cooks_) {
      if (over != nullptr) over->SetLetGo();
    }
    NoteState();
    graph_ = std::make_unique<Graph>(core_);
    ++graphs_;
  }
  const auto slot = static_cast<CookSlot>(std::countr_one(running_ | over_));
  std::vector<CookRequested::Blamed> blamed = std::exchange(next.blamed, {});
  Note(CookBegan{next.request, slot}, BitOf(slot));
  std::unique_ptr<Cook>& cook = cooks_[slot];
  last_ = nothing_.get();
  cook = std::make_unique<Cook>(core_, slot, std::move(next));
  last_ = cook.get();
  NoteState();
  core_.breakers.BeginCook(BitOf(slot), running_ == BitOf(slot));
  for (CookRequested::Blamed& one : blamed) {
    const PackageId package = graph_->claims.FindOrAdd(one.package);
    graph_->faults.AddEarlier(package, std::move(one));
  }
}

void CookTable::ForEach(PackageId package, absl::FunctionRef<void(const Claimant&)> visit) const {
  ForEachOf(packages_[package].cooks, [&](Cook& cook) {
    visit({.tally = cook.tally,
           .platforms = cook.request().platforms,
           .judged = cook.judging.JudgedOf(package)});
  });
}

bool CookTable::HasAgenda() const {
  if (running_ == 0) return !waiting_.empty() && core_.commits.empty();
  if (active_ == 0) return false;
  bool has_agenda = !graph_->agenda.empty() || graph_->lifecycle.equal_work().has_freed() ||
                    over_ != 0 || CanBeginNext();
  ForEachOf(active_, [&](const Cook& cook) {
    has_agenda |= !cook.selection.IsAllSelected() || (cook.IsQuiet() && !cook.roots.is_settling());
  });
  return has_agenda;
}

CookMask CookTable::ClaimersOn(PackageId package, PlatformMask platforms) const {
  CookMask claimers = 0;
  ForEachOf(packages_[package].cooks, [&](const Cook& cook) {
    if (cook.request().platforms & platforms) claimers |= cook.bit();
  });
  return claimers;
}

CookMask CookTable::ListenersOn(PackageId package, PlatformIndex platform) const {
  CookMask listeners = 0;
  ForEachOf(packages_[package].cooks, [&](const Cook& cook) {
    if (cook.request().platforms & ~cook.judging.JudgedOf(package) & MaskOf(platform))
      listeners |= cook.bit();
  });
  if (IsSabotaged(Sabotage::kTellWrongCook) && std::popcount(running_) > 1)
    listeners = running_ & ~listeners;
  return listeners;
}

CookMask CookTable::StandingIn(PackageId package, CookMask cooks) const {
  CookMask standing = 0;
  ForEachOf(cooks & with_standing_, [&](const Cook& cook) {
    if (cook.Stands(package)) standing |= cook.bit();
  });
  return standing;
}

PlatformMask CookTable::PlatformsOf(CookMask cooks) const {
  PlatformMask platforms = 0;
  ForEachOf(cooks, [&](const Cook& cook) { platforms |= cook.request().platforms; });
  return platforms;
}

Urgency CookTable::UrgencyOf(CookMask cooks, InstigatorCategory category) const {
  Urgency urgency = Urgency::kLow;
  ForEachOf(cooks, [&](const Cook& cook) {
    urgency = std::max(urgency, director::UrgencyOf(cook.request().of_class, category));
  });
  return urgency;
}

const Cook* CookTable::FirstOf(PackageId package) const {
  const Cook* first = nullptr;
  ForEachOf(packages_[package].cooks, [&](const Cook& cook) {
    const auto rank = [](const Cook& one) {
      return std::pair(-static_cast<int>(one.request().of_class), one.request().request);
    };
    if (first == nullptr || rank(cook) < rank(*first)) first = &cook;
  });
  return first;
}

bool CookTable::IsAllSelected() const {
  bool is_all = true;
  ForEachOf(active_, [&](const Cook& cook) { is_all &= cook.selection.IsAllSelected(); });
  return is_all;
}

void CookTable::Count(PackageId package, uint64_t Counters::*counter, uint64_t by) const {
  for (CookMask cooks = packages_[package].cooks & (running_ | over_); cooks != 0;
       cooks &= cooks - 1)
    cooks_[static_cast<size_t>(std::countr_zero(cooks))]->tally.counters.*counter += by;
}

void CookTable::CountForAll(uint64_t Counters::*counter, uint64_t by) const {
  ForEachOf(running_, [&](Cook& cook) { cook.tally.counters.*counter += by; });
}

void CookTable::CountRetry(PackageId package, RetryCause cause) const {
  Count(package, &Counters::jobs_retried);
  ++core_.counted.retried[static_cast<size_t>(cause)];
}

void CookTable::CountAttached() const {
  ForEachOf(running_,
            [this](Cook& cook) { cook.tally.counters.workers_attached = workers_.attached(); });
}

bool CookTable::IsPublishing(uint64_t request) const {
  const Cook* const cook = Find(request);
  return cook != nullptr && cook->roots.is_publishing();
}

Cook* CookTable::Find(uint64_t request) const {
  Cook* found = nullptr;
  ForEachOf(running_, [&](Cook& cook) {
    if (cook.request().request == request) found = &cook;
  });
  return found;
}

Cook& CookTable::At(uint64_t request) const {
  for (const std::unique_ptr<Cook>& cook : cooks_) {
    if (cook != nullptr && cook->request().request == request) return *cook;
  }
  GALLEY_CHECK(false && "no such cook");
}

}  // namespace galley::director
