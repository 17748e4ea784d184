#include "director/core/packages/killings.h"

namespace galley::director {

void Killings::AddDeath(PackageId package, Machine machine, What what, absl::Duration now) {
  if (what == What::kExecutor || ++losses_[package] >= kLossesToSuspect) suspects_.insert(package);
  Streak& streak = streaks_[machine];
  if (streak.package != package) streak = {.package = package, .since = now};
  ++(what == What::kExecutor ? streak.executors : streak.workers);
}

void Killings::NoteDone(PackageId package, Machine machine, absl::Duration now) {
  Done& done = done_[machine];
  if (done.last != package) {
    done.before = done.last;
    done.before_at = done.before.valid() ? done.last_at : -absl::InfiniteDuration();
    done.last = package;
  }
  done.last_at = now;
}

bool Killings::OthersSucceeded(Machine machine, const Streak& streak) const {
  const auto done = done_.find(machine);
  if (done == done_.end()) return false;
  const Done& two = done->second;
  return (two.last == streak.package ? two.before_at : two.last_at) >= streak.since;
}

std::optional<std::vector<Killings::Place>> Killings::Judge(PackageId package,
                                                            bool has_others) const {
  std::vector<Place> places;
  uint32_t machines_of_executors = 0;
  bool is_enough_on_one = false;
  for (const auto& [machine, streak] : streaks_) {
    if (streak.package != package) continue;
    const bool others_succeeded = OthersSucceeded(machine, streak);
    places.push_back(
        {.machine = machine, .deaths = streak.deaths(), .others_succeeded = others_succeeded});
    machines_of_executors += streak.executors > 0;
    is_enough_on_one |= (streak.executors >= kDeathsMax || streak.deaths() >= kLossesMax) &&
                        (others_succeeded || !has_others);
  }
  if (is_enough_on_one || machines_of_executors >= kMachinesMax || places.size() >= kLossesMax)
    return places;
  return std::nullopt;
}

PackageId Killings::TurnAt(Machine machine) const {
  const auto streak = streaks_.find(machine);
  const bool is_one = streak != streaks_.end() && streak->second.deaths() < kTurnMax &&
                      IsSuspect(streak->second.package);
  return is_one ? streak->second.package : PackageId();
}

void Killings::Forget(PackageId package) {
  if (suspects_.erase(package) + losses_.erase(package) == 0) return;
  absl::erase_if(streaks_, [&](const auto& entry) { return entry.second.package == package; });
}

}  // namespace galley::director
