#include "director/core/cooks/cook_table.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::director {

void CookTable::OnCookRequested(const CookRequested& event) {
  waiting_.push_back(event);
  if (CanBeginNext()) BeginOne();
}

// A cook that waits for its turn is over before it began.
void CookTable::OnCancelRequested(const CancelRequested& event) {
  if (Cook* cook = Find(event.request)) return cook->Interrupt();
  const auto waiting = FindWaiting(event.request);
  if (waiting == waiting_.end()) return;
  effects_.Note(CookEnded{.request = waiting->request,
                          .is_interrupted = true,
                          .is_fail_fast = false,
                          .infrastructure_error = ""},
                0);
  waiting_.erase(waiting);
}

// A settled cook selects the files if it is opened again.
void CookTable::Discover(const std::vector<PackagesDiscovered>& all) {
  for (const PackagesDiscovered& one : all) {
    const Cook* const cook = Find(one.request);
    if (cook != nullptr && cook->claimant().is_settling) {
      for (const SelectedPackage& file : one.packages)
        cook->claimant().request.selected.push_back(
            {parts_.claims.NameAsked(file.name), file.category});
    } else if (cook != nullptr ? cook->claimant().CanStillChange()
                               : FindWaiting(one.request) != waiting_.end()) {
      OnPackagesDiscovered(one);
    }
  }
}

void CookTable::OnPackagesDiscovered(const PackagesDiscovered& event) {
  Cook* const cook = Find(event.request);
  const auto waiting = FindWaiting(event.request);
  for (const SelectedPackage& one : event.packages) {
    const SelectedPackage selected{parts_.claims.NameAsked(one.name), one.category};
    if (cook != nullptr && cook->claimant().CanStillChange()) {
      cook->claimant().request.selected.push_back(selected);
    } else if (cook == nullptr && waiting != waiting_.end()) {
      waiting->selected.push_back(selected);
    } else {
      effects_.Note(PackageWarned{graph_.FindOrAdd(selected.name), std::nullopt,
                                  record::WarningKind::kAskedTooLate,
                                  "is asked for too late: no cook runs that it could join",
                                  /*is_passing=*/true},
                    cook == nullptr ? 0 : cook->claimant().bit());
    }
  }
}

std::deque<CookRequested>::iterator CookTable::FindWaiting(uint64_t request) {
  return std::ranges::find_if(waiting_,
                              [&](const CookRequested& one) { return one.request == request; });
}

void CookTable::OnRootBuilt(const RootBuilt& event) {
  if (Cook* cook = Find(event.request)) cook->OnRootBuilt(event);
}

void CookTable::OnRootPublished(const RootPublished& event) {
  if (Cook* cook = Find(event.request)) cook->OnRootPublished(event);
}

void CookTable::OnRootsStaged(const RootsStaged& event) {
  if (Cook* cook = Find(event.request)) cook->OnRootsStaged(event);
}

void CookTable::OnLossSeen(const LossSeen& event) {
  ForEachOf(claimants_.masks().running, [&](Cook& cook) { cook.OnLossSeen(event); });
}

void CookTable::OnLostFound(const LostFound& event) {
  ForEachOf(claimants_.masks().running, [&](Cook& cook) { cook.OnLostFound(event); });
}

void CookTable::OnLossSuspected(const LossSuspected& note) {
  ForEachOf(note.cooks, [](Cook& cook) { cook.OnLossSeen(LossSeen{}); });
}

void CookTable::EndAll(const std::string& infrastructure_error) {
  ForEachOf(claimants_.masks().running, [&](Cook& cook) { cook.End(infrastructure_error); });
}

void CookTable::OnCookUnfit(const CookUnfit& event) {
  if (Cook* cook = Find(event.request)) cook->End(event.reason);
}

void CookTable::OnMemoryShort() {
  const CookMasks& masks = claimants_.masks();
  const bool is_any_cook = (masks.running & kCooksBits) != 0 || !waiting_.empty();
  if (is_any_cook || claimants_.has_ended() || parts_.resumed_attempts.names_packages()) return;
  const bool is_asked = masks.running != 0;
  const bool is_named = !parts_.commits.empty() || deps_.attempts.size() != 0;
  if (is_asked ? masks.over != 0 : is_named) return;
  claimants_.Clear();
  for (std::unique_ptr<Cook>& over : cooks_) over.reset();
  if (is_asked) return deps_.unneeded_packages.Forget();
  deps_.attempts.BeginRound();
  packages_.Clear();
  BeginRound();
}

// Voids the knowledge of the packages of earlier cooks.
void CookTable::BeginRound() {
  deps_.reservations.kept_worker().reset();
  graph_.BeginAnew();
}

void CookTable::Advance() {
  claimants_.BeginStep();
  claimants_.ForEachOf(claimants_.masks().running,
                       [this](Claimant& cook) { cook.tally.monitor.Advance(step_.now); });
}

size_t CookTable::ReleaseClaims(size_t units_max) {
  size_t units = 0;
  if (claimants_.masks().running == 0 || claimants_.masks().over == 0) return units;
  for (CookMask left = claimants_.masks().over; left != 0 && units < units_max; left &= left - 1) {
    Claimant& cook = claimants_.InSlot(static_cast<CookSlot>(std::countr_zero(left)));
    if (IsSabotaged(Sabotage::kKeepClaims)) continue;
    units += 1 + parts_.claims.ReleaseClaims(cook, units_max - units);
    if (!cook.members.empty()) continue;
    cook.are_claims_released = true;
    cook.manifest.reset();
  }
  claimants_.NoteState();
  return units;
}

void CookTable::GiveUp() {
  if (!claimants_.TakeStopped()) return;
  ForEachOf(claimants_.masks().running, [](Cook& cook) {
    if (cook.claimant().is_ending()) cook.GiveUp();
  });
}

size_t CookTable::SelectSome(size_t units_max) {
  size_t units = 0;
  ForEachOf(claimants_.masks().active, [&](Cook& cook) {
    if (units < units_max) units += cook.SelectSome(units_max - units);
  });
  return units;
}

void CookTable::GoOn() {
  GiveUp();
  ForEachOf(claimants_.masks().running, [this](Cook& cook) {
    while (!cook.GoOn()) GiveUp();
  });
}

void CookTable::BeginNext() {
  if (claimants_.masks().running == 0) {
    if (CanBeginNext()) BeginOne();
    return;
  }
  while (claimants_.masks().running != 0 && CanBeginNext()) BeginOne();
}

bool CookTable::CanBeginNext() const {
  if (waiting_.empty()) return false;
  // Jobs that were in hand for earlier cooks do not belong to the next cook.
  if (claimants_.masks().running == 0) return parts_.commits.empty() && !claimants_.has_ended();
  return claimants_.FreeSlot(options_.cooks_max).has_value();
}

void CookTable::BeginOne() {
  CookRequested next = std::move(waiting_.front());
  waiting_.pop_front();
  deps_.worker_lifecycle.BeginCook();
  if (claimants_.masks().running == 0) {
    deps_.attempts.BeginRound();
    deps_.held_results.ForgetUnproven();
    claimants_.ReleaseAllClaims();
    BeginRound();
  }
  // There may always be asks, so that no round begins for months.
  if ((claimants_.masks().running & kCooksBits) == 0) deps_.attempts.ForgetAloneTime();
  const CookSlot slot = *claimants_.FreeSlot(kCooksMax);
  std::vector<CookRequested::Blamed> blamed = std::exchange(next.blamed, {});
  effects_.Note(CookBegan{next.request, slot}, BitOf(slot));
  cooks_[slot].reset();
  Claimant& claimant = claimants_.Begin(slot, std::move(next));
  parts_.warnings.BeginCook(slot);
  cooks_[slot] = std::make_unique<Cook>(ground_, parts_, claimant);
  deps_.breakers.BeginCook(BitOf(slot), claimants_.awaited() == BitOf(slot));
  for (CookRequested::Blamed& one : blamed) {
    const PackageId package = graph_.FindOrAdd(one.package);
    deps_.faults.AddEarlier(package, std::move(one));
  }
}

bool CookTable::HasAgenda() const {
  if (claimants_.masks().running == 0) return !waiting_.empty() && parts_.commits.empty();
  bool has_agenda = claimants_.masks().over != 0 || CanBeginNext();
  if (claimants_.masks().active == 0) return has_agenda;
  has_agenda |= !graph_.agenda().empty() || graph_.lifecycle().equal_work().has_freed();
  ForEachOf(claimants_.masks().active, [&](const Cook& cook) {
    has_agenda |= !cook.claimant().IsAllSelected() || cook.IsQuiet();
  });
  return has_agenda;
}

void CookTable::CheckTallies() const {
  ForEachOf(claimants_.masks().running, [](const Cook& cook) { cook.CheckTally(); });
}

Cook* CookTable::Find(uint64_t request) const {
  const Claimant* const found = claimants_.Find(request);
  return found == nullptr ? nullptr : cooks_[found->slot].get();
}

}  // namespace galley::director
