#include "director/core/culprits.h"

#include <algorithm>
#include <optional>

#include "absl/time/time.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

// A suspect that has to wait for another one looks again so much later, and more for each other.
constexpr absl::Duration kPutOff = absl::Milliseconds(50);
constexpr absl::Duration kPutOffForEach = absl::Milliseconds(2);
constexpr absl::Duration kPutOffMax = absl::Seconds(2);

constexpr std::string_view kKilledAdvice =
    ". The machine may have run out of memory (its kernel's log says so: `journalctl -k`): give "
    "the rule a larger `memory`, or start fewer workers. Or a program of the package kills what it "
    "did not start. This failure is not kept: the next cook tries it again";

std::string Times(uint32_t count) {
  return count == 1 ? "once" : count == 2 ? "twice" : std::to_string(count) + " times";
}

}  // namespace

void Culprits::AddDeath(const Attempt& attempt, Killings::What what) {
  const Killings::Machine machine = workers_.Find(attempt.worker)->machine;
  graph().blame.killings().AddDeath(attempt.package, machine, what, core_.awake);
  if (what == Killings::What::kWorker) return;  // as a rule that is not the package's doing
  for (const WorkerId id : workers_.ring()) {
    if (workers_.Find(id)->machine == machine) graph().blame.Avoid(attempt.package, id);
  }
}

void Culprits::OnKilled(AttemptId id, const WorkerReport::Failed& failed, PlatformMask platforms) {
  const Attempt attempt = core_.attempts.at(id);
  AddDeath(attempt, Killings::What::kExecutor);
  if (!Fail(id, attempt.package, platforms, failed))
    graph().faults.BlameInfrastructure(attempt.package, platforms, failed.error, failed.log);
}

bool Culprits::OnWorkerLost(AttemptId id, const Attempt& attempt, const std::string& reason) {
  AddDeath(attempt, Killings::What::kWorker);
  return Fail(id, attempt.package, attempt.remaining, {.error = "its worker was lost: " + reason});
}

bool Culprits::Fail(AttemptId id, PackageId package, PlatformMask platforms,
                    const WorkerReport::Failed& failed) {
  if (packages_[package].work == nullptr) return false;
  platforms &= ~core_.attempts.StillInHand(package);  // another attempt goes on
  const auto places = graph().blame.killings().Judge(package, HasOthers());
  if (platforms == 0 || !places.has_value()) return false;
  core_.advancing.FailPlatforms(
      package, platforms & ~core_.advancing.InPhase(package, Phase::kCommitting),
      packages_[package].work->is_loaded ? Stage::kSave : Stage::kLoad, Text(*places, failed.error),
      failed.log, FailureCause::kPackage, id);
  return true;
}

std::string Culprits::Text(const std::vector<Killings::Place>& places,
                           const std::string& error) const {
  uint32_t deaths = 0;
  std::string where;
  for (const Killings::Place& place : places) {
    deaths += place.deaths;
    where += (where.empty() ? "" : ", ") + Times(place.deaths) + " on " +
             core_.proofs.NameOfMachine(place.machine) +
             (place.others_succeeded ? ", where other packages succeeded meanwhile" : "");
  }
  return "its executor or worker was killed (SIGKILL) " + Times(deaths) + " while it ran (" +
         where + "), the last time: " + error + std::string(kKilledAdvice);
}

bool Culprits::IsInHandAt(PackageId package, Killings::Machine machine) const {
  const std::vector<AttemptId> attempts = core_.attempts.At(package);
  return std::any_of(attempts.begin(), attempts.end(), [&](AttemptId attempt) {
    const Worker* const worker = workers_.Find(core_.attempts.at(attempt).worker);
    return worker != nullptr && worker->machine == machine;
  });
}

// A package that waits for the outputs of others, to be alone, or for a worker that can cook it,
// may wait for this very package: of those that are parked only the first is asked for.
bool Culprits::HoldsItsTurn(PackageId turn, PackageId package) const {
  const State state = packages_[turn].state;
  const Work* const work = packages_[turn].work.get();
  return work != nullptr && (state == State::kLoad || state == State::kSave) &&
         !work->parked.has_value() && packages_[turn].urgency >= packages_[package].urgency &&
         !graph().aloneness.WaitsToBeAlone(turn);
}

bool Culprits::IsKeptFrom(PackageId package, const Worker& worker) const {
  const Killings& killings = graph().blame.killings();
  if (!killings.IsSuspect(package)) return false;
  const PackageId turn = killings.TurnAt(worker.machine);
  if (turn == package) return false;
  if (turn.valid() && HoldsItsTurn(turn, package)) return true;
  return std::any_of(killings.suspects().begin(), killings.suspects().end(), [&](PackageId other) {
    return other != package && packages_[other].work != nullptr &&
           IsInHandAt(other, worker.machine);
  });
}

bool Culprits::PutOff(PackageId package) {
  const Killings& killings = graph().blame.killings();
  if (!killings.IsSuspect(package)) return false;
  const auto others = static_cast<int64_t>(killings.suspects().size());
  // (One that waits for a grant is in a queue of its own, in which no time is waited for.)
  if (packages_[package].state == State::kSaveStalled)
    lifecycle().SetState(package, State::kLoad, "put off");
  lifecycle().BackOff(package, core_.now + std::min(kPutOff + others * kPutOffForEach, kPutOffMax));
  return true;
}

// Jobs of packages that are no suspects run, or are ready to. A suspect that waits for its turn is
// in no queue.
bool Culprits::HasOthers() const {
  size_t suspects = 0;
  for (const PackageId suspect : graph().blame.killings().suspects()) {
    const Work* const work = packages_[suspect].work.get();
    if (work == nullptr) continue;
    const size_t in_hand = core_.attempts.At(suspect).size();
    suspects += in_hand > 0 ? in_hand : work->not_before == absl::InfinitePast();
  }
  return workers_.jobs_in_hand() + lifecycle().loads().size() + lifecycle().saves().size() +
             lifecycle().requests().size() >
         suspects;
}

}  // namespace galley::director
