// Near the end: a second attempt (a *backup*) at what runs for too long, on a worker that has
// nothing to do. The first result wins, the other attempt is cancelled.
//
// A straggler is a job that outlasts what was expected of it by far (overruns.h), or whose worker
// has not been heard of for a while. Not backed up: what holds a resource, which it would hold
// twice; what failed through its own fault before, which would only kill more executors.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Milliseconds(100);
// At most one slot of so many holds a backup; one always may.
constexpr uint64_t kSlotsForABackup = 4;
constexpr uint32_t kBackupsOfAPackageMax = 3;  // one after the other

}  // namespace

// At all that runs, for somebody who has nothing to do.
bool CookCore::Impl::IsTimeToLook() {
  if (workers.idle().empty() || workers.jobs_in_hand() == 0) return false;
  if (awake - looked_for_stragglers_at < kBetweenLooks) return false;
  looked_for_stragglers_at = awake;
  return true;
}

void CookCore::Impl::BackUpStragglers() {
  for (const AttemptId straggler : Stragglers()) {
    if (backups >= std::max<uint64_t>(1, workers.slots() / kSlotsForABackup)) return;
    const WorkerId worker = IdleFor(attempts.at(straggler), /*is_elsewhere=*/true);
    if (worker.valid()) BackUp(attempts.at(straggler).package, worker);
  }
}

bool CookCore::Impl::MayBeBackedUp(AttemptId id) const {
  const Attempt& attempt = attempts.at(id);
  const Work& work = *packages[attempt.package].work;
  return work.attempt == id && work.others.empty() && work.backups < kBackupsOfAPackageMax &&
         attempt.group == 0 && attempt.remaining != 0 && blame.Of(attempt.package).own == 0;
}

// Who runs for the longest time comes first.
std::vector<AttemptId> CookCore::Impl::Stragglers() const {
  std::vector<std::pair<absl::Duration, AttemptId>> found;
  for (const WorkerId id : workers.ring()) {
    const Worker& worker = *workers.Find(id);
    for (const Hand::Running& one : worker.hand.running()) {
      const absl::Duration limit =
          std::max(options.straggler_min, overruns.Limit(worker.hand.At(one.attempt).expected));
      const bool is_late = awake - one.began_at > limit || !workers.IsUsable(worker);
      if (is_late && MayBeBackedUp(one.attempt)) found.emplace_back(one.began_at, one.attempt);
    }
    if (workers.IsUsable(worker)) continue;
    for (const AttemptId waiting : worker.hand.Queue()) {
      if (MayBeBackedUp(waiting)) found.emplace_back(awake, waiting);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<AttemptId> stragglers;
  for (const auto& [began_at, attempt] : found) stragglers.push_back(attempt);
  return stragglers;
}

void CookCore::Impl::FindLongest(Progress& view) const {
  std::optional<std::pair<absl::Duration, AttemptId>> longest;
  for (const WorkerId id : workers.ring()) {
    for (const Hand::Running& one : workers.Find(id)->hand.running()) {
      const std::pair running(one.began_at, one.attempt);
      if (!longest || running < *longest) longest = running;
    }
  }
  if (!longest) return;
  view.longest = NameOf(attempts.at(longest->second).package);
  view.longest_for = awake - longest->first;
  view.is_alone = longest->second == alone;
}

WorkerId CookCore::Impl::IdleFor(const Attempt& attempt, bool is_elsewhere) const {
  const uint64_t memory_bytes = MemoryOf(attempt.package);
  for (const WorkerId id : workers.idle()) {
    const Worker& worker = *workers.Find(id);
    if (!(is_elsewhere && id == attempt.worker) && !IsKeptFrom(attempt.package, id) &&
        workers.IsUsable(worker) && worker.hand.HasMemoryFor(memory_bytes, worker.memory_bytes))
      return id;
  }
  return WorkerId();
}

void CookCore::Impl::BackUp(PackageId id, WorkerId worker) {
  Work& work = *packages[id].work;
  const Attempt& primary = attempts.at(work.attempt);
  const PlatformMask platforms = primary.remaining;
  const AttemptId backup = Give(id, {.worker = worker}, platforms, primary.expected);
  attempts.at(backup).is_backup = true;
  work.others.push_back(backup);
  ++work.attempts;
  ++work.backups;
  ++backups;
  ++counters.backups_started;
}

}  // namespace galley::director
