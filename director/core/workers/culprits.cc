#include "director/core/workers/culprits.h"

#include <algorithm>
#include <optional>

#include "absl/time/time.h"

namespace galley::director {
namespace {

// A suspect that has to wait for another suspect looks again after this time, longer for each
// further suspect.
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
  graph_.blame().killings().AddDeath(attempt.package, machine, what, step_.awake);
  if (what == Killings::What::kWorker) return;  // as a rule the package did not kill the worker
  for (const WorkerId id : workers_.attached().ring()) {
    if (workers_.Find(id)->machine == machine) graph_.blame().Avoid(attempt.package, id);
  }
}

void Culprits::OnKilled(AttemptId id, const WorkerReport::Failed& failed, PlatformMask platforms) {
  const Attempt attempt = attempts_.at(id);
  AddDeath(attempt, Killings::What::kExecutor);
  if (!Fail(id, attempt.package, platforms, failed))
    faults_.BlameInfrastructure(attempt.package, platforms, failed.error, failed.log);
}

bool Culprits::OnWorkerLost(AttemptId id, const Attempt& attempt, const std::string& reason) {
  AddDeath(attempt, Killings::What::kWorker);
  return Fail(id, attempt.package, attempt.remaining, {.error = "its worker was lost: " + reason});
}

bool Culprits::Fail(AttemptId id, PackageId package, PlatformMask platforms,
                    const WorkerReport::Failed& failed) {
  if (packages_[package].work == nullptr) return false;
  platforms &= ~attempts_.StillInHand(package);  // another attempt goes on
  const auto places = graph_.blame().killings().Judge(package, HasOthers());
  if (platforms == 0 || !places.has_value()) return false;
  package_progress_.FailPlatforms(
      package, platforms & ~InPhase(packages_[package], Phase::kCommitting),
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
             machines_.NameOf(place.machine) +
             (place.others_succeeded ? ", where other packages succeeded meanwhile" : "");
  }
  return "its executor or worker was killed (SIGKILL) " + Times(deaths) + " while it ran (" +
         where + "), the last time: " + error + std::string(kKilledAdvice);
}

bool Culprits::PutOff(PackageId package) {
  const Killings& killings = graph_.blame().killings();
  if (!killings.IsSuspect(package)) return false;
  const auto others = static_cast<int64_t>(killings.suspects().size());
  // A package that waits for a grant is in a queue of its own, in which no back-off is waited for.
  if (packages_[package].state == State::kSaveStalled)
    graph_.lifecycle().SetState(package, State::kLoad, "put off");
  graph_.lifecycle().BackOff(package,
                             step_.now + std::min(kPutOff + others * kPutOffForEach, kPutOffMax));
  return true;
}

// True: jobs of packages that are no suspects run, or are ready to run. A suspect that waits for
// its turn is in no queue.
bool Culprits::HasOthers() const {
  size_t suspects = 0;
  for (const PackageId suspect : graph_.blame().killings().suspects()) {
    const Work* const work = packages_[suspect].work.get();
    if (work == nullptr) continue;
    const size_t in_hand = attempts_.At(suspect).size();
    suspects += in_hand > 0 ? in_hand : work->not_before == absl::InfinitePast();
  }
  return workers_.attached().jobs_in_hand() + workers_.attached().spare_in_hand() +
             graph_.queues().loads().size() + graph_.queues().saves().size() +
             graph_.queues().requests().size() >
         suspects;
}

}  // namespace galley::director
