#include "director/core/lifecycle.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {

namespace {

// The package waits for an output that a worker's cook asked for.
bool WaitsForOutput(const Work& work) {
  return std::any_of(work.waits.begin(), work.waits.end(),
                     [](const Wait& wait) { return wait.is_certain; });
}

bool IsOver(const PackageData& package) {
  return package.outcome != Outcome::kNone || package.is_skipped;
}

// The package is known to be cooked, and is not cooked yet.
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

bool IsBlocked(const Work& work) {
  return work.waits_for_generator || !work.stale_path.empty() || WaitsForOutput(work);
}

void Lifecycle::SetState(PackageId id, State state, std::string_view reason) {
  PackageData& package = packages_[id];
  if (package.state == state) return Refresh(id);
  GALLEY_CHECK(IsLegalEdge(package.state, state));
  GALLEY_CHECK(!reason.empty());
  if (package.state == State::kIdle) {
    package.work = std::make_unique<Work>();
    package.work->asked = package.work->ready = package.work->handed = now_;
    ++in_works_;
  }
  if (package.state == State::kRequest && state == State::kLoad) package.work->ready = now_;
  monitor_.Leave(package.state, package.urgency);
  monitor_.Enter(state, package.urgency);
  package.state = state;
  if (state == State::kIdle || state == State::kRequest) EndLeads(id);
  if (state == State::kIdle) {
    if (package.work->is_expected) monitor_.RemoveExpected(package.work->expected);
    backing_off_.erase({package.work->not_before, id});
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

// The package waits for something, or is over. Platforms that are being committed wait for nobody.
void Lifecycle::EndLeads(PackageId id) {
  PackageData& package = packages_[id];
  const bool is_over = package.state == State::kIdle;
  for (Slot& slot : package.slots) {
    if (!slot.is_leading || (!is_over && slot.phase == Phase::kCommitting)) continue;
    EndLead(id, slot, EqualWork::End::kNothing);
  }
}

void Lifecycle::Count(const Slot& slot, bool is_there) {
  const auto add = [&](uint64_t& counter) { counter += is_there ? uint64_t{1} : ~uint64_t{0}; };
  if (slot.phase == Phase::kFailed) add(counters_.results_failed);
  if (slot.phase != Phase::kDone) return;
  switch (slot.source) {
    case ResultSource::kCooked:
      return add(counters_.results_cooked);
    case ResultSource::kCached:
      return add(counters_.results_cached);
    case ResultSource::kUpToDate:
      return add(counters_.results_up_to_date);
  }
}

void Lifecycle::SetPhase(PackageId id, PlatformIndex platform, Phase phase, ResultSource source) {
  Slot& slot = packages_[id].slots[platform];
  GALLEY_CHECK(slot.phase != Phase::kUnwanted);
  const bool has_result =
      slot.phase == Phase::kCommitting &&
      (phase == Phase::kDone || (phase == Phase::kFailed && slot.result->is_verdict));
  if (has_result && slot.work != 0) equal_work_.NoteResult(slot.work);
  if (slot.is_leading && !CanLead(phase))
    EndLead(id, slot, has_result ? EqualWork::End::kResult : EqualWork::End::kNothing);
  Count(slot, false);
  slot.phase = phase;
  slot.source = source;
  Count(slot, true);
  if (IsSettled(phase))
    monitor_.CountResult(phase == Phase::kDone && source == ResultSource::kCooked);
}

void Lifecycle::SetOutcome(PackageId id, Outcome outcome) {
  PackageData& package = packages_[id];
  const bool was_over = IsOver(package);
  if (package.outcome == Outcome::kFailed) --counters_.failed;
  package.outcome = outcome;
  if (package.outcome == Outcome::kFailed) ++counters_.failed;
  if (package.is_in_cook && IsOver(package) != was_over) monitor_.CountOver(!was_over);
}

void Lifecycle::SetSkipped(PackageId id, bool is_skipped) {
  PackageData& package = packages_[id];
  const bool was_over = IsOver(package);
  package.is_skipped = is_skipped;
  if (package.is_in_cook && IsOver(package) != was_over) monitor_.CountOver(!was_over);
}

void Lifecycle::SetUrgency(PackageId id, Urgency urgency) {
  PackageData& package = packages_[id];
  if (package.is_in_cook) {
    monitor_.Leave(package.state, package.urgency);
    monitor_.Enter(package.state, urgency);
  }
  package.urgency = urgency;
  Refresh(id);
}

void Lifecycle::Expect(PackageData& package) {
  if (package.work == nullptr) return;
  Work& work = *package.work;
  const bool is_expected = IsToBeCooked(package);
  if (is_expected == work.is_expected && (!is_expected || package.cost == work.expected)) return;
  if (work.is_expected) monitor_.RemoveExpected(work.expected);
  work.is_expected = is_expected;
  work.expected = package.cost;
  if (work.is_expected) monitor_.AddExpected(work.expected);
}

void Lifecycle::SetUpToDate(PackageId id, bool is_up_to_date) {
  PackageData& package = packages_[id];
  if (package.was_up_to_date) --counters_.up_to_date;
  package.was_up_to_date = is_up_to_date;
  if (package.was_up_to_date) ++counters_.up_to_date;
}

void Lifecycle::SetLoaded(PackageId id) {
  PackageData& package = packages_[id];
  if (!package.was_loaded) ++counters_.loaded;
  package.was_loaded = true;
}

void Lifecycle::Enter(PackageId id, PlatformMask platforms) {
  PackageData& package = packages_[id];
  GALLEY_CHECK(!package.is_in_cook);
  package.is_in_cook = true;
  package.slots.resize(static_cast<size_t>(std::bit_width(platforms)));
  for (size_t i = 0; i < package.slots.size(); ++i) {
    if (platforms & MaskOf(static_cast<PlatformIndex>(i)))
      package.slots[i].phase = Phase::kToLookUp;
  }
  ++counters_.in_cook;
  monitor_.Enter(package.state, package.urgency);
  if (IsOver(package)) monitor_.CountOver(true);
  counters_.results_wanted += static_cast<uint64_t>(std::popcount(platforms));
}

void Lifecycle::Remap(PackageId id, const PlatformMap& map, PlatformMask added, Phase added_phase) {
  PackageData& package = packages_[id];
  std::vector<Slot> before = package.slots.Take();
  PlatformMask wanted = 0;
  for (PlatformIndex p = 0; p < before.size(); ++p) {
    Count(before[p], false);
    if (before[p].phase == Phase::kUnwanted) continue;
    --counters_.results_wanted;
    wanted |= map.Mask(MaskOf(p));
  }
  GALLEY_CHECK((wanted & added) == 0);
  counters_.results_wanted += static_cast<uint64_t>(std::popcount(wanted | added));
  package.slots.resize(static_cast<size_t>(std::bit_width(wanted | added)));
  for (PlatformIndex p = 0; p < before.size(); ++p) {
    if (before[p].phase == Phase::kUnwanted || !map.Index(p).has_value()) continue;
    Slot& slot = package.slots[*map.Index(p)];
    slot = std::move(before[p]);
    slot.is_leading = false;  // whoever calls this begins EqualWork anew
    if (slot.phase == Phase::kLookingUp || slot.phase == Phase::kFollowing)
      slot.phase = Phase::kToLookUp;
    Count(slot, true);
  }
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (added & MaskOf(p)) package.slots[p].phase = added_phase;
  }
}

void Lifecycle::Withdraw(PackageId id) {
  PackageData& package = packages_[id];
  GALLEY_CHECK(package.is_in_cook && package.state == State::kIdle);
  SetOutcome(id, Outcome::kNone);
  SetUpToDate(id, false);
  if (IsOver(package)) monitor_.CountOver(false);
  monitor_.Leave(package.state, package.urgency);
  for (const Slot& slot : package.slots) {
    Count(slot, false);
    if (slot.phase != Phase::kUnwanted) --counters_.results_wanted;
  }
  if (package.was_loaded) --counters_.loaded;
  package.was_loaded = false;
  package.slots.clear();
  package.problems.clear();
  package.is_in_cook = false;
  --counters_.in_cook;
}

bool Lifecycle::WantsLookUp(const PackageData& package) {
  if (package.state != State::kRequest || !package.work->has_begun || IsBlocked(*package.work) ||
      package.work->attempt != 0)
    return false;
  return std::any_of(package.slots.begin(), package.slots.end(),
                     [](const Slot& slot) { return slot.phase == Phase::kToLookUp; });
}

void Lifecycle::Refresh(PackageId id) {
  PackageData& package = packages_[id];
  Expect(package);
  if (WantsLookUp(package)) {
    requests_.Push(id, package.urgency);
  } else {
    requests_.Remove(id);
  }
  const bool is_backing_off =
      package.work != nullptr && backing_off_.contains({package.work->not_before, id});
  const bool is_free = package.state == State::kLoad && package.work->attempt == 0;
  if (is_free && package.work->not_before != absl::InfinitePast() && !is_backing_off) {
    backing_off_.insert({package.work->not_before, id});
    loads_.Remove(id);
  } else if (is_free && !is_backing_off) {
    loads_.Push(id,
                {.runs_alone = package.work->runs_alone && package.urgency != Urgency::kBlocking,
                 .urgency = package.urgency,
                 .was_loaded = package.was_loaded,
                 .length = LengthOf(package.cost + package.work->chain),
                 .rank = ranks_.RankOf(id)});
  } else {
    loads_.Remove(id);
  }
  if (!is_free && is_backing_off) backing_off_.erase({package.work->not_before, id});
  if (package.state == State::kSaveStalled) {
    saves_.Push(id, package.resource_group,
                {.urgency = package.urgency,
                 .chain = package.cost + package.work->chain,
                 .rank = ranks_.RankOf(id),
                 .name = package.name});
  } else {
    saves_.Remove(id);
  }
}

void Lifecycle::SetAside(PackageId id) {
  loads_.Remove(id);
  saves_.Remove(id);
}

void Lifecycle::BackOff(PackageId id, absl::Time until) {
  Work& work = *packages_[id].work;
  if (until <= work.not_before) return;
  backing_off_.erase({work.not_before, id});
  work.not_before = until;
  Refresh(id);
}

void Lifecycle::Release(absl::Time now) {
  while (!backing_off_.empty() && backing_off_.begin()->first <= now) {
    const PackageId id = backing_off_.begin()->second;
    backing_off_.erase(backing_off_.begin());
    packages_[id].work->not_before = absl::InfinitePast();
    Refresh(id);
  }
}

void Lifecycle::CheckMonitor() const {
  const Progress view = monitor_.View(1);
  decltype(view.packages) counted{};
  uint32_t over = 0, to_cook = 0;
  absl::Duration expected;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageData& package = packages_[PackageId(i)];
    if (!package.is_in_cook) continue;
    ++counted[static_cast<size_t>(package.state)][static_cast<size_t>(package.urgency)];
    over += IsOver(package);
    if (package.work == nullptr) continue;
    GALLEY_CHECK(package.work->is_expected == IsToBeCooked(package));
    if (!package.work->is_expected) continue;
    ++to_cook;
    expected += package.work->expected;
  }
  GALLEY_CHECK(counted == view.packages);
  GALLEY_CHECK(over == monitor_.over() && to_cook == monitor_.to_cook());
  GALLEY_CHECK(expected == monitor_.expected());
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
  CheckMonitor();
  CheckEqualWork();
  Counters counted;
  uint32_t in_works = 0;
  size_t requests = 0, loads = 0, saves = 0, backing_off = 0;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageId id(i);
    const PackageData& package = packages_[id];
    GALLEY_CHECK((package.work != nullptr) == (package.state != State::kIdle));
    GALLEY_CHECK(package.work == nullptr || package.is_in_cook);
    GALLEY_CHECK(requests_.Contains(id) == WantsLookUp(package));
    const bool is_free = package.state == State::kLoad && package.work->attempt == 0;
    const bool waits = is_free && package.work->not_before != absl::InfinitePast();
    GALLEY_CHECK(loads_.Contains(id) == (is_free && !waits));
    GALLEY_CHECK(!waits || backing_off_.contains({package.work->not_before, id}));
    GALLEY_CHECK(saves_.Contains(id) == (package.state == State::kSaveStalled));
    requests += WantsLookUp(package);
    loads += is_free && !waits;
    saves += package.state == State::kSaveStalled;
    backing_off += waits;
    in_works += package.state != State::kIdle;
    counted.in_cook += package.is_in_cook;
    counted.loaded += package.was_loaded;
    counted.failed += package.outcome == Outcome::kFailed;
    counted.up_to_date += package.was_up_to_date;
    for (const Slot& slot : package.slots) {
      counted.results_wanted += slot.phase != Phase::kUnwanted;
      counted.results_failed += slot.phase == Phase::kFailed;
      counted.results_cooked += slot.phase == Phase::kDone && slot.source == ResultSource::kCooked;
      counted.results_cached += slot.phase == Phase::kDone && slot.source == ResultSource::kCached;
      counted.results_up_to_date +=
          slot.phase == Phase::kDone && slot.source == ResultSource::kUpToDate;
      GALLEY_CHECK(slot.phase != Phase::kDone ||
                   (slot.result != nullptr && !slot.result->is_verdict));
      GALLEY_CHECK(slot.phase != Phase::kCommitting || slot.result != nullptr);
    }
  }
  GALLEY_CHECK(in_works == in_works_);
  GALLEY_CHECK(requests == requests_.size() && loads == loads_.size() && saves == saves_.size());
  GALLEY_CHECK(backing_off == backing_off_.size());
  GALLEY_CHECK(counted.in_cook == counters_.in_cook && counted.loaded == counters_.loaded);
  GALLEY_CHECK(counted.failed == counters_.failed && counted.up_to_date == counters_.up_to_date);
  GALLEY_CHECK(counted.results_wanted == counters_.results_wanted &&
               counted.results_failed == counters_.results_failed);
  GALLEY_CHECK(counted.results_cooked == counters_.results_cooked &&
               counted.results_cached == counters_.results_cached);
  GALLEY_CHECK(counted.results_up_to_date == counters_.results_up_to_date);
}

}  // namespace galley::director
