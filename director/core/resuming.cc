// Workers that outlive a director bring to the next one what it does not know: jobs in their hands,
// and reports. The journal says which of them an earlier term gave them (WorkersSurvived); the rest
// is cancelled and refused.
//
// What may be in hand is *resumed*: when its package comes to be handed over, that attempt is taken
// for it, and until its worker has spoken or is given up the package waits. When all that was
// asked for is looked up, what is not wanted is cancelled.
#include <algorithm>
#include <utility>

#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

constexpr absl::Duration kLookAgain = absl::Milliseconds(100);
// A worker says what it has in its first message, and in the next ones what came of the rest.
constexpr absl::Duration kReportsMax = absl::Seconds(1);
constexpr uint64_t kOutdated = ~uint64_t{0};  // the generation of what was given before a change

bool IsIn(const std::vector<AttemptId>& attempts, AttemptId attempt) {
  return std::find(attempts.begin(), attempts.end(), attempt) != attempts.end();
}

}  // namespace

void CookCore::Impl::OnWorkersSurvived(const WorkersSurvived& event) {
  workers.BeginOwnAt(event.first_free);
  for (const WorkerId worker : event.workers) {
    if (workers.Find(worker) == nullptr) workers.AddSurvivor(worker, awake);
  }
  for (const WorkersSurvived::Given& given : event.given) {
    if (workers.Find(given.worker) == nullptr) continue;
    const PackageId package = FindOrAdd(given.package);
    attempts.emplace(given.attempt, Attempt{.package = package,
                                            .worker = given.worker,
                                            .platform_set = platform_sets.present(),
                                            .granted = given.platforms,
                                            .remaining = given.platforms,
                                            .is_current = false,
                                            .is_earlier = true});
    survivors[package].push_back(given.attempt);
    // Of a package that two have the first to be given goes on.
    resumed.emplace(package, Resumed{given.attempt, given.generated_source});
  }
}

// A worker says what it really has.
void CookCore::Impl::Resume(const WorkerAttached& event) {
  const bool is_wanted = request.has_value() && ending == Ending::kNone;
  for (auto at = resumed.begin(); at != resumed.end();) {
    Resumed& one = at->second;
    const bool is_its = attempts.at(one.attempt).worker == event.worker;
    one.has_begun |= is_its && IsIn(event.begun, one.attempt);
    if (is_its && !IsIn(event.in_hand, one.attempt)) one.over_at = now + kReportsMax;
    at = is_its && !is_wanted ? resumed.erase(at) : std::next(at);
  }
}

bool CookCore::Impl::IsResumed(AttemptId id) const {
  const auto attempt = attempts.find(id);
  if (attempt == attempts.end()) return false;
  const auto found = resumed.find(attempt->second.package);
  return found != resumed.end() && found->second.attempt == id;
}

void CookCore::Impl::ForgetResumed(AttemptId id) {
  if (IsResumed(id)) resumed.erase(attempts.at(id).package);
}

void CookCore::Impl::ForgetResumedOf(WorkerId worker) {
  for (auto at = resumed.begin(); at != resumed.end();) {
    const bool is_its = attempts.at(at->second.attempt).worker == worker;
    at = is_its ? resumed.erase(at) : std::next(at);
  }
}

// What its package is made of has changed under this director: they are as any that came before.
void CookCore::Impl::OutdateSurvivors(PackageId id) {
  const auto found = survivors.find(id);
  if (found == survivors.end()) return;
  for (const AttemptId given : found->second) {
    const auto attempt = attempts.find(given);
    if (attempt == attempts.end() || !attempt->second.is_earlier) continue;
    if (IsResumed(given)) {
      DesireFor(attempt->second.worker).cancel.push_back(given);
      resumed.erase(id);
    }
    attempt->second.is_earlier = false;
    attempt->second.generation = kOutdated;
  }
  survivors.erase(found);
}

void CookCore::Impl::CancelResumed() {
  for (const auto& [package, one] : std::exchange(resumed, {}))
    DesireFor(attempts.at(one.attempt).worker).cancel.push_back(one.attempt);
}

bool CookCore::Impl::TakeUpResumed(PackageId id) {
  const auto found = resumed.find(id);
  if (found == resumed.end()) return false;
  const Resumed was = found->second;
  Attempt& attempt = attempts.at(was.attempt);
  const bool is_over = was.over_at != absl::InfiniteFuture();
  const bool is_awaited =
      is_over ? now < was.over_at
              : workers.Find(attempt.worker)->presence == Worker::Presence::kStarting;
  if (is_awaited) {
    if (packages[id].state == State::kSaveStalled)
      lifecycle.SetState(id, State::kLoad, "its worker is expected");
    lifecycle.BackOff(id, now + kLookAgain);
    return true;
  }
  resumed.erase(found);
  if (is_over) return false;
  const record::Generated* generated = packages[id].generated.get();
  const bool is_same_source =
      was.generated_source.has_value()
          ? generated != nullptr && generated->source == *was.generated_source
          : generated == nullptr;
  const PlatformMask platforms = InPhase(id, Phase::kToCook);
  if (!is_same_source || attempt.platform_set != platform_sets.present() ||
      (platforms & ~attempt.remaining) != 0) {
    DesireFor(attempt.worker).cancel.push_back(was.attempt);
    return false;
  }
  attempt.remaining = platforms;
  attempt.generation = packages[id].generation;
  attempt.is_current = true;
  attempt.group = packages[id].resource_group;
  attempt.expected = CostOf(id);
  attempt.is_partial = true;  // how long it took nobody has seen
  attempt.is_loaded = was.has_begun;
  attempt.is_earlier = false;
  PutInHand(id);
  Hold(was.attempt, attempt);
  SetHandedOver(id, was.attempt);
  Advance(id);
  ++counters.jobs_resumed;
  return true;
}

void CookCore::Impl::DropUnwanted() {
  if (resumed.empty() || !lifecycle.requests().empty() || look_ups_in_flight > 0 ||
      !agenda.empty() || selected_next < request->selected.size())
    return;
  for (auto at = resumed.begin(); at != resumed.end();) {
    const bool is_unwanted = packages[at->first].work == nullptr;
    if (is_unwanted)
      DesireFor(attempts.at(at->second.attempt).worker).cancel.push_back(at->second.attempt);
    at = is_unwanted ? resumed.erase(at) : std::next(at);
  }
}

// What it brings was made from what the package is made from now. Whether files and settings are
// those of an earlier term the shell has seen; a generated source may be another.
bool CookCore::Impl::IsOfToday(const Attempt& attempt) const {
  if (attempt.is_earlier) return GeneratorName(NameOf(attempt.package)).empty();
  return !IsOutdated(attempt.package, attempt.generation);
}

}  // namespace galley::director
