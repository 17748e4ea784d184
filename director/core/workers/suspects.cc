#include "director/core/workers/suspects.h"

#include <algorithm>

namespace galley::director {

bool Suspects::IsInHandAt(PackageId package, Killings::Machine machine) const {
  const std::vector<AttemptId> attempts = attempts_.At(package);
  return std::ranges::any_of(attempts, [&](AttemptId attempt) {
    const Worker* const worker = workers_.Find(attempts_.at(attempt).worker);
    return worker != nullptr && worker->machine == machine;
  });
}

// A package that waits for the outputs of others, to be alone, or for a worker that can cook it,
// may wait for this very package: only the first parked package is asked for.
bool Suspects::HoldsItsTurn(PackageId turn, PackageId package) const {
  const State state = packages_[turn].state;
  const Work* const work = packages_[turn].work.get();
  return work != nullptr && (state == State::kLoad || state == State::kSave) &&
         !work->parked.has_value() && packages_[turn].urgency >= packages_[package].urgency &&
         !exclusive_run_.WaitsToBeAlone(turn);
}

bool Suspects::IsKeptFrom(PackageId package, const Worker& worker) const {
  const Killings& killings = graph_.blame().killings();
  if (!killings.IsSuspect(package)) return false;
  const PackageId turn = killings.TurnAt(worker.machine);
  if (turn == package) return false;
  if (turn.valid() && HoldsItsTurn(turn, package)) return true;
  return std::ranges::any_of(killings.suspects(), [&](PackageId other) {
    return other != package && packages_[other].work != nullptr &&
           IsInHandAt(other, worker.machine);
  });
}

}  // namespace galley::director
