#include "director/core/packages/lifecycle.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {

namespace {

// The package is known to need a cook, and is not cooked yet.
bool IsToBeCooked(const PackageData& package) {
  switch (package.state) {
    case State::kIdle:
    case State::kRequest:
      return false;
    case State::kLoad:
    case State::kSaveStalled:
      return true;
    case State::kSave:
      return package.work->attempt != 0;
  }
  return false;
}

}  // namespace

class Lifecycle::Change {
 public:
  Change(Lifecycle& lifecycle, PackageId package)
      : lifecycle_(lifecycle),
        package_(package),
        around_(lifecycle.changing_),
        is_inner_(around_ == package) {
    if (is_inner_) return;
    GALLEY_CHECK(!around_.valid());
    lifecycle_.changing_ = package_;
    lifecycle_.CountAll(package_, false);
  }
  ~Change() {
    if (is_inner_) return;
    lifecycle_.CountAll(package_, true);
    lifecycle_.changing_ = around_;
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  Lifecycle& lifecycle_;
  const PackageId package_;
  const PackageId around_;
  const bool is_inner_;
};

void Lifecycle::SetState(PackageId id, State state, std::string_view reason) {
  PackageData& package = packages_[id];
  if (package.state == state) return Refresh(id);
  GALLEY_CHECK(IsLegalEdge(package.state, state));
  const Change change(*this, id);
  GALLEY_CHECK(!reason.empty());
  if (package.state == State::kIdle) {
    package.work = std::make_unique<Work>();
    package.work->asked = package.work->ready = package.work->handed = now_;
    ++in_works_;
  }
  if (package.state == State::kRequest && state == State::kLoad) package.work->ready = now_;
  package.state = state;
  if (state == State::kIdle || state == State::kRequest) EndLeads(id);
  if (state == State::kIdle) {
    queues_.Leave(id);
    package.work.reset();
    --in_works_;
  }
  Refresh(id);
}

void Lifecycle::Lead(PackageId id, PlatformIndex platform) {
  Slot& slot = packages_[id].slots[platform];
  GALLEY_CHECK(CanLead(slot.phase) && !slot.is_leading);
  slot.is_leading = true;
  equal_work_.Lead(id, slot.work);
}

void Lifecycle::EndLead(PackageId id, Slot& slot, EqualWork::End how) {
  slot.is_leading = false;
  if (how == EqualWork::End::kNothing && WaitsForOutput(*packages_[id].work))
    how = EqualWork::End::kWaits;
  equal_work_.EndLead(id, slot.work, how);
}

void Lifecycle::ExhaustLead(PackageId id, PlatformIndex platform) {
  Slot& slot = packages_[id].slots[platform];
  if (slot.is_leading) EndLead(id, slot, EqualWork::End::kExhausted);
}

// The package waits for something, or is over. Platforms that are being committed go on leading.
void Lifecycle::EndLeads(PackageId id) {
  PackageData& package = packages_[id];
  const bool is_over = package.state == State::kIdle;
  for (Slot& slot : package.slots) {
    if (!slot.is_leading || (!is_over && slot.phase == Phase::kCommitting)) continue;
    EndLead(id, slot, EqualWork::End::kNothing);
  }
}

void Lifecycle::CountAll(PackageId id, bool is_there) {
  asked_work_.Count(packages_[id], is_there);
  claimants_.ForEachOf(packages_[id].cooks, [&](Claimant& claimant) {
    claimant.tally.Count(packages_[id], claimant.request.platforms, claimant.JudgedOf(id),
                         is_there);
  });
}

void Lifecycle::CountEvery(bool is_there) {
  for (uint32_t i = 0; i < packages_.size(); ++i) CountAll(PackageId(i), is_there);
  claimants_.ForEachOf(claimants_.masks().running, [&](Claimant& claimant) {
    for (size_t n = claimant.refused.size(); n > 0; --n)
      claimant.tally.CountRefused(claimant.request.platforms, is_there);
  });
}

void Lifecycle::Recount(PackageId id, absl::FunctionRef<void()> change) {
  const Change counting(*this, id);
  change();
}

void Lifecycle::SetPhase(PackageId id, PlatformIndex platform, Phase phase, ResultSource source) {
  Slot& slot = packages_[id].slots[platform];
  GALLEY_CHECK(slot.phase != Phase::kUnwanted);
  const bool has_result =
      slot.phase == Phase::kCommitting &&
      (phase == Phase::kDone || (phase == Phase::kFailed && slot.result->is_verdict));
  if (has_result && slot.work != 0) equal_work_.NoteResult(slot.work);
  if (slot.phase == Phase::kFollowing && phase != Phase::kFollowing)
    equal_work_.NoteLeaving(slot.work);
  if (slot.is_leading && !CanLead(phase))
    EndLead(id, slot, has_result ? EqualWork::End::kResult : EqualWork::End::kNothing);
  {
    const Change change(*this, id);
    slot.phase = phase;
    slot.source = source;
  }
  if (!IsSettled(phase)) return;
  const bool is_cooked = phase == Phase::kDone && source == ResultSource::kCooked;
  claimants_.ForEachOf(packages_[id].cooks, [&](Claimant& claimant) {
    if (claimant.request.platforms & MaskOf(platform))
      claimant.tally.monitor.CountResult(is_cooked);
  });
}

void Lifecycle::SetOutcome(PackageId id, Outcome outcome) {
  const Change change(*this, id);
  packages_[id].outcome = outcome;
}

void Lifecycle::SetSkipped(PackageId id, bool is_skipped) {
  const Change change(*this, id);
  packages_[id].is_skipped = is_skipped;
}

void Lifecycle::SetUrgency(PackageId id, Urgency urgency) {
  const Urgency before = packages_[id].urgency;
  if (packages_[id].work != nullptr && (before == Urgency::kSpare) != (urgency == Urgency::kSpare))
    crossed_.insert(id);
  if (urgency < before) NoteLeaving(id);
  {
    const Change change(*this, id);
    packages_[id].urgency = urgency;
  }
  Refresh(id);
}

void Lifecycle::Expect(PackageId id) {
  PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  Work& work = *package.work;
  const bool is_expected = IsToBeCooked(package);
  if (is_expected == work.is_expected && (!is_expected || package.cost == work.expected)) return;
  const Change change(*this, id);
  work.is_expected = is_expected;
  work.expected = package.cost;
}

void Lifecycle::SetLoaded(PackageId id, bool is_loaded) {
  const Change change(*this, id);
  packages_[id].was_loaded = is_loaded;
}

void Lifecycle::Claim(PackageId id, CookMask cooks, PlatformMask platforms, Phase first) {
  PackageData& package = packages_[id];
  GALLEY_CHECK((package.cooks & cooks) == 0);
  {
    const Change change(*this, id);
    package.cooks |= cooks;
    const auto width = static_cast<size_t>(std::bit_width(platforms));
    if (package.slots.size() < width) package.slots.resize(width);
    for (PlatformIndex p = 0; p < width; ++p) {
      Slot& slot = package.slots[p];
      if ((platforms & MaskOf(p)) && slot.phase == Phase::kUnwanted) slot.phase = first;
    }
  }
  Refresh(id);
}

void Lifecycle::Unclaim(PackageId id, CookMask cooks) {
  const Change change(*this, id);
  packages_[id].cooks &= ~cooks;
}

void Lifecycle::Unwant(PackageId id, PlatformMask platforms) {
  PackageData& package = packages_[id];
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const Phase phase = package.slots[p].phase;
    const bool has_begun = phase == Phase::kInHand || phase == Phase::kCommitting ||
                           phase == Phase::kDone || phase == Phase::kFailed;
    if (has_begun || (platforms & MaskOf(p)) == 0) platforms &= ~MaskOf(p);
    if ((platforms & MaskOf(p)) == 0) continue;
    if (phase == Phase::kFollowing) equal_work_.NoteLeaving(package.slots[p].work);
    if (package.slots[p].is_leading) EndLead(id, package.slots[p], EqualWork::End::kNothing);
  }
  {
    const Change change(*this, id);
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if ((platforms & MaskOf(p)) != 0) package.slots[p] = Slot();
    }
  }
  if (package.work != nullptr)
    std::erase_if(package.work->waits,
                  [&](const Wait& wait) { return (platforms & MaskOf(wait.platform)) != 0; });
  Refresh(id);
}

void Lifecycle::CountOnAgenda(PackageId id, bool is_there) {
  const uint32_t one = is_there ? 1 : ~uint32_t{0};
  packages_[id].on_agenda += one;
  claimants_.ForEachOf(packages_[id].cooks,
                       [&](Claimant& claimant) { claimant.tally.on_agenda += one; });
}

void Lifecycle::Remap(PackageId id, const PlatformMap& map, PlatformMask added, Phase added_phase) {
  PackageData& package = packages_[id];
  std::vector<Slot> before = package.slots.Take();
  PlatformMask wanted = 0;
  for (PlatformIndex p = 0; p < before.size(); ++p) {
    if (before[p].phase != Phase::kUnwanted) wanted |= map.Mask(MaskOf(p));
  }
  GALLEY_CHECK((wanted & added) == 0);
  package.asked = map.Mask(package.asked);
  package.asked_now = map.Mask(package.asked_now);
  package.slots.resize(static_cast<size_t>(std::bit_width(wanted | added)));
  for (PlatformIndex p = 0; p < before.size(); ++p) {
    if (before[p].phase == Phase::kUnwanted || !map.Index(p).has_value()) continue;
    Slot& slot = package.slots[*map.Index(p)];
    slot = std::move(before[p]);
    slot.is_leading = false;  // the caller begins EqualWork anew
    if (slot.phase == Phase::kLookingUp || slot.phase == Phase::kFollowing)
      slot.phase = Phase::kToLookUp;
  }
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (added & MaskOf(p)) package.slots[p].phase = added_phase;
  }
}

void Lifecycle::Withdraw(PackageId id) {
  PackageData& package = packages_[id];
  GALLEY_CHECK(package.is_in_cook() && package.state == State::kIdle);
  NoteLeaving(id);
  const Change change(*this, id);
  package.outcome = Outcome::kNone;
  package.was_loaded = false;
  package.slots.clear();
  package.problems.clear();
  package.is_skipped = false;
  package.is_outdated = false;
  package.cooks = 0;
}

// The leaders that the package follows may be less urgent from now on.
void Lifecycle::NoteLeaving(PackageId id) {
  for (const Slot& slot : packages_[id].slots) {
    if (slot.phase == Phase::kFollowing) equal_work_.NoteLeaving(slot.work);
  }
}

void Lifecycle::StopLeading(PackageId id) {
  for (Slot& slot : packages_[id].slots) {
    if (slot.is_leading && slot.phase != Phase::kCommitting)
      EndLead(id, slot, EqualWork::End::kNothing);
  }
}

void Lifecycle::Refresh(PackageId id) {
  Expect(id);
  queues_.Refresh(id);
}

void Lifecycle::Park(PackageId id, uint32_t queue) {
  if (packages_[id].state == State::kSaveStalled)
    SetState(id, State::kLoad, "no worker may take it");
  queues_.Park(id, queue);
  Refresh(id);
}

void Lifecycle::Unpark(PackageId id) {
  queues_.LeaveParking(id);
  Refresh(id);
}

void Lifecycle::BackOff(PackageId id, absl::Time until) {
  if (until <= packages_[id].work->not_before) return;
  queues_.BackOff(id, until);
  Refresh(id);
}

void Lifecycle::Release(absl::Time now) {
  for (PackageId id = queues_.TakeReleased(now); id.valid(); id = queues_.TakeReleased(now))
    Refresh(id);
}

void Lifecycle::CheckEqualWork() const {
  size_t leading = 0;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageData& package = packages_[PackageId(i)];
    const bool waits = package.state == State::kIdle || package.state == State::kRequest;
    for (const Slot& slot : package.slots) {
      leading += slot.is_leading;
      const PackageId leader = equal_work_.LeaderOf(slot.work);
      GALLEY_CHECK(!slot.is_leading || leader == PackageId(i));
      GALLEY_CHECK(!slot.is_leading ||
                   (waits ? slot.phase == Phase::kCommitting : CanLead(slot.phase)));
      if (slot.phase != Phase::kFollowing || package.work == nullptr) continue;
      GALLEY_CHECK(equal_work_.has_freed() || (leader.valid() && leader != PackageId(i)));
    }
  }
  GALLEY_CHECK(leading == equal_work_.leading());
}

void Lifecycle::CheckInvariants() const {
  CheckEqualWork();
  uint32_t in_works = 0;
  AskedWork asked_work;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageData& package = packages_[PackageId(i)];
    asked_work.Count(package, true);
    GALLEY_CHECK((package.work != nullptr) == (package.state != State::kIdle));
    GALLEY_CHECK(package.work == nullptr || package.is_in_cook());
    GALLEY_CHECK(package.work == nullptr || package.work->is_expected == IsToBeCooked(package));
    in_works += package.state != State::kIdle;
    for (const Slot& slot : package.slots) {
      GALLEY_CHECK(slot.phase != Phase::kDone ||
                   (slot.result != nullptr && !slot.result->is_verdict));
      GALLEY_CHECK(slot.phase != Phase::kCommitting || slot.result != nullptr);
    }
  }
  GALLEY_CHECK(in_works == in_works_);
  GALLEY_CHECK(asked_work == asked_work_);
  queues_.CheckInvariants();  // reads `work` of packages that are not idle
}

}  // namespace galley::director
