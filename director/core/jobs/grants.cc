#include "director/core/jobs/grants.h"

#include <algorithm>
#include <limits>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::director {

Grants::Grants(const record::ResourceCounts& totals) : totals_(totals), groups_(1) {
  for (const auto& [name, count] : totals) resources_.push_back({.name = name, .total = count});
}

size_t Grants::NumberOf(const std::string& name) {
  const auto found =
      std::ranges::find_if(resources_, [&](const Resource& one) { return one.name == name; });
  if (found != resources_.end()) return static_cast<size_t>(found - resources_.begin());
  resources_.push_back({.name = name, .total = std::nullopt});
  return resources_.size() - 1;
}

bool Grants::GroupOf(const record::ResourceCounts& wanted, uint32_t* group, std::string* why) {
  Group one;
  uint64_t sum = 0;
  for (const auto& [name, count] : wanted) {
    if (count == 0) continue;
    const size_t number = NumberOf(name);
    const uint32_t total = resources_[number].total.value_or(count);
    if (total < count) {
      *why = "its rule asks for " + std::to_string(count) + " of the resource '" + name +
             "', and [resources] has " + std::to_string(total) + " of it for the whole farm";
      return false;
    }
    one.wanted.push_back({number, count});
    sum += count;
  }
  std::ranges::sort(one.wanted,
                    [](const Wanted& a, const Wanted& b) { return a.resource < b.resource; });
  one.is_composite = sum > 1;
  const auto found =
      std::ranges::find_if(groups_, [&](const Group& other) { return other.wanted == one.wanted; });
  *group = static_cast<uint32_t>(found - groups_.begin());
  has_composite_ |= one.is_composite;
  if (found == groups_.end()) groups_.push_back(std::move(one));
  return true;
}

record::ResourceCounts Grants::WantedBy(uint32_t group) const {
  record::ResourceCounts wanted;
  for (const Wanted& one : groups_[group].wanted) wanted[resources_[one.resource].name] = one.count;
  return wanted;
}

uint64_t Grants::WantedBy(uint32_t group, size_t resource) const {
  for (const Wanted& one : groups_[group].wanted) {
    if (one.resource == resource) return one.count;
  }
  return 0;
}

void Grants::SetOffer(WorkerId worker, const std::string& machine,
                      const record::ResourceCounts& offered) {
  Forget(worker);
  if (offered.empty()) {
    silent_.insert(worker);
  } else {
    offers_[worker] = {.machine = machine, .resources = offered};
  }
}

void Grants::Forget(WorkerId worker) {
  ++version_;
  silent_.erase(worker);
  offers_.erase(worker);
}

const Grants::Offer& Grants::OfferOf(WorkerId worker) const {
  static const Offer& kNothing = *new Offer;
  const auto found = offers_.find(worker);
  return found == offers_.end() ? kNothing : found->second;
}

// How many units the jobs on the offer's machine may hold; nullopt: as many as the farm has.
std::optional<uint32_t> Grants::LimitOf(size_t resource, const Offer& offer) const {
  const auto found = offer.resources.find(resources_[resource].name);
  if (found != offer.resources.end()) return found->second;
  if (resources_[resource].total.has_value()) return std::nullopt;
  return 0;
}

uint32_t Grants::HeldOn(const std::string& machine, size_t resource) const {
  const auto use = use_.find(machine);
  if (use == use_.end()) return 0;
  const auto held = use->second.find(resource);
  return held == use->second.end() ? 0 : held->second;
}

bool Grants::CanEver(uint32_t group, const record::ResourceCounts& offered) const {
  const Offer offer{.machine = "", .resources = offered};
  return std::ranges::all_of(groups_[group].wanted, [&](const Wanted& one) {
    return LimitOf(one.resource, offer).value_or(one.count) >= one.count;
  });
}

uint64_t Grants::FreeOfFarm(uint32_t group) const {
  uint64_t jobs = std::numeric_limits<uint64_t>::max();
  for (const Wanted& one : groups_[group].wanted) {
    const Resource& resource = resources_[one.resource];
    if (resource.total.has_value())
      jobs = std::min<uint64_t>(jobs, (*resource.total - resource.held) / one.count);
  }
  return jobs;
}

uint64_t Grants::JobsOn(uint32_t group, const record::ResourceCounts& offered) const {
  const Offer offer{.machine = "", .resources = offered};
  uint64_t jobs = std::numeric_limits<uint64_t>::max();
  for (const Wanted& one : groups_[group].wanted) {
    if (const std::optional<uint32_t> limit = LimitOf(one.resource, offer))
      jobs = std::min<uint64_t>(jobs, *limit / one.count);
  }
  return jobs;
}

bool Grants::IsFreeBeside(uint32_t group, uint32_t other) const {
  return std::ranges::all_of(groups_[group].wanted, [&](const Wanted& one) {
    const Resource& resource = resources_[one.resource];
    return !resource.total.has_value() ||
           uint64_t{resource.held} + one.count + WantedBy(other, one.resource) <= *resource.total;
  });
}

bool Grants::IsFreeAt(uint32_t group, WorkerId worker) const {
  if (group == 0 || IsSabotaged(Sabotage::kOverfillMachine)) return true;
  return IsFreeAtBeside(group, 0, worker);
}

bool Grants::IsFreeAtBeside(uint32_t group, uint32_t other, WorkerId worker) const {
  const Offer& offer = OfferOf(worker);
  return std::ranges::all_of(groups_[group].wanted, [&](const Wanted& one) {
    const uint64_t beside = WantedBy(other, one.resource);
    if (other != 0 && beside == 0) return true;
    const std::optional<uint32_t> limit = LimitOf(one.resource, offer);
    return !limit.has_value() || HeldOn(offer.machine, one.resource) + one.count + beside <= *limit;
  });
}

const std::string* Grants::MachineOf(WorkerId worker) const {
  const auto found = offers_.find(worker);
  return found == offers_.end() ? nullptr : &found->second.machine;
}

bool Grants::IsSameMachine(WorkerId a, WorkerId b) const {
  const std::string* const one = MachineOf(a);
  const std::string* const other = MachineOf(b);
  return one != nullptr && other != nullptr && *one == *other;
}

uint64_t Grants::MissingAt(uint32_t group, WorkerId worker) const {
  const Offer& offer = OfferOf(worker);
  uint64_t missing = 0;
  for (const Wanted& one : groups_[group].wanted) {
    const std::optional<uint32_t> limit = LimitOf(one.resource, offer);
    const uint64_t needed = uint64_t{HeldOn(offer.machine, one.resource)} + one.count;
    if (limit.has_value() && needed > *limit) missing += needed - *limit;
  }
  return missing;
}

// True: the offer says something of the group's resources.
bool Grants::IsLimitedBy(const Group& group, const record::ResourceCounts& offered) const {
  return std::ranges::any_of(group.wanted, [&](const Wanted& one) {
    return !resources_[one.resource].total.has_value() ||
           offered.contains(resources_[one.resource].name);
  });
}

// True also where no machine has enough: then Eligibility says so.
bool Grants::FindMachine(uint32_t group) const {
  const Group& wanted = groups_[group];
  if (!silent_.empty() && !IsLimitedBy(wanted, {})) return true;
  bool can_any = false;
  for (const auto& [worker, offer] : offers_) {
    if (!CanEver(group, offer.resources)) continue;
    can_any = true;
    if (IsFreeAt(group, worker)) return true;
  }
  return !can_any;
}

bool Grants::IsFree(uint32_t group) const {
  if (group == 0) return true;
  if (!IsFreeBeside(group, 0)) return false;
  if (offers_.empty()) return true;
  const Group& wanted = groups_[group];
  if (wanted.version != version_) {
    wanted.has_machine = FindMachine(group);
    wanted.version = version_;
  }
  return wanted.has_machine;
}

void Grants::Acquire(AttemptId attempt, uint32_t group, WorkerId worker) {
  if (group == 0) return;
  GALLEY_CHECK(IsFreeBeside(group, 0) && IsFreeAt(group, worker) && !held_.contains(attempt));
  for (const Wanted& one : groups_[group].wanted) resources_[one.resource].held += one.count;
  const auto offer = offers_.find(worker);
  if (offer == offers_.end()) {
    held_[attempt] = {.group = group, .machine = std::nullopt};
    return;
  }
  ++version_;
  held_[attempt] = {.group = group, .machine = offer->second.machine};
  Use& use = use_[offer->second.machine];
  for (const Wanted& one : groups_[group].wanted) use[one.resource] += one.count;
}

void Grants::Release(AttemptId attempt) {
  const auto found = held_.find(attempt);
  if (found == held_.end()) return;
  const Held held = std::move(found->second);
  held_.erase(found);
  for (const Wanted& one : groups_[held.group].wanted) {
    GALLEY_CHECK(resources_[one.resource].held >= one.count);
    resources_[one.resource].held -= one.count;
  }
  if (!held.machine.has_value()) return;
  ++version_;
  const auto use = use_.find(*held.machine);
  for (const Wanted& one : groups_[held.group].wanted) {
    const auto on_machine = use->second.find(one.resource);
    GALLEY_CHECK(on_machine->second >= one.count);
    on_machine->second -= one.count;
    if (on_machine->second == 0) use->second.erase(on_machine);
  }
  if (use->second.empty()) use_.erase(use);
}

// The holdings come back as they were, though an offer may have become smaller since.
bool Grants::LookWithout(const std::vector<AttemptId>& attempts, absl::FunctionRef<bool()> look) {
  const std::vector<Resource> resources = resources_;
  const absl::btree_map<std::string, Use> use = use_;
  const absl::btree_map<AttemptId, Held> held = held_;
  for (const AttemptId attempt : attempts) Release(attempt);
  const bool answer = look();
  resources_ = resources;
  use_ = use;
  held_ = held;
  ++version_;
  return answer;
}

}  // namespace galley::director
