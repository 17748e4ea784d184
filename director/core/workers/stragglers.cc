#include "director/core/workers/stragglers.h"

#include <algorithm>
#include <utility>

#include "director/core/jobs/slot_outlook.h"

namespace galley::director {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Milliseconds(100);
// At most one slot of so many holds a backup; one always may.
constexpr uint64_t kSlotsForABackup = 4;
// The most stragglers of a look for which no worker was found.
constexpr size_t kInVainMax = 64;
// Backups of a package run one after the other. Where results are proven, a package needs at most
// three results.
constexpr uint32_t kBackupsOfAPackageMax = 3, kBackupsWithProofsMax = 6;

}  // namespace

// A look at all running jobs is due, for a worker that has nothing to do.
bool Stragglers::IsTimeToLook() {
  if (workers_.attached().idle().empty() || workers_.attached().jobs_in_hand() == 0) return false;
  if (step_.awake - looked_at_ < kBetweenLooks) return false;
  looked_at_ = step_.awake;
  return true;
}

void Stragglers::BackUp() {
  size_t in_vain = 0;
  for (const AttemptId straggler : Find()) {
    if (in_vain == kInVainMax) return;
    if (deps_.attempts.backups() >=
        std::max<uint64_t>(1, workers_.attached().slots() / kSlotsForABackup))
      return;
    const Attempt attempt = deps_.attempts.at(straggler);
    WorkerId worker = IdleFor(attempt, /*is_elsewhere=*/true);
    if (!worker.valid() && IsHopeless(straggler)) worker = BestFor(attempt);
    if (worker.valid()) {
      GiveBackup(attempt.package, worker);
    } else {
      ++in_vain;
    }
  }
}

// True: the job ends sooner when another worker begins it anew, even behind other work.
bool Stragglers::IsHopeless(AttemptId id) const {
  const Attempt& attempt = deps_.attempts.at(id);
  const Worker& worker = *workers_.Find(attempt.worker);
  const std::optional<absl::Duration> began_at = worker.jobs.BeganAt(id);
  if (!began_at || worker.jobs.IsUploading(id)) return false;
  const absl::Duration ran = step_.awake - *began_at;
  const bool is_slow = deps_.worker_trust.IsSlow(attempt.worker);
  if (is_slow && attempt.expected * deps_.worker_trust.PaceOf(worker) - ran > 2 * attempt.expected)
    return true;
  const bool is_likely = is_slow || deps_.machines.HasFailed(workers_.Find(attempt.worker));
  return ran > std::max(options_.straggler_min,
                        is_likely ? deps_.overrun_histogram.Limit(attempt.expected)
                                  : deps_.overrun_histogram.FarLimit(attempt.expected));
}

bool Stragglers::MayBeBackedUp(AttemptId id) const {
  const Attempt& attempt = deps_.attempts.at(id);
  const Work& work = *packages_[attempt.package].work;
  const uint32_t most = options_.proofs.share > 0 ? kBackupsWithProofsMax : kBackupsOfAPackageMax;
  return work.attempt == id && work.others.empty() && work.backups < most && attempt.group == 0 &&
         attempt.remaining != 0 && graph_.blame().Of(attempt.package).own == 0;
}

// The stragglers, the longest running first.
std::vector<AttemptId> Stragglers::Find() const {
  std::vector<std::pair<absl::Duration, AttemptId>> found;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    const auto look_at = [&](AttemptId attempt, absl::Duration since) {
      const absl::Duration limit = std::max(
          options_.straggler_min, deps_.overrun_histogram.Limit(worker.jobs.At(attempt).expected));
      const absl::Duration ran = step_.awake - since;
      const bool is_late = ran > limit || !workers_.attached().IsUsable(worker) ||
                           (ran > options_.straggler_min && deps_.worker_trust.IsDoubtful(id));
      if (is_late && MayBeBackedUp(attempt)) found.emplace_back(since, attempt);
    };
    for (const AssignedJobs::Running& one : worker.jobs.running())
      look_at(one.attempt, one.began_at);
    for (const auto& [attempt, one] : worker.jobs.uploading())
      look_at(attempt, std::max(one.left_at, worker.jobs.uploaded_at()));
    if (workers_.attached().IsUsable(worker)) continue;
    for (const AttemptId waiting : worker.jobs.Queue()) {
      if (MayBeBackedUp(waiting)) found.emplace_back(step_.awake, waiting);
    }
  }
  std::ranges::sort(found);
  std::vector<AttemptId> stragglers;
  for (const auto& [began_at, attempt] : found) stragglers.push_back(attempt);
  return stragglers;
}

std::vector<RunningJob> Stragglers::RunningOf(CookMask cooks) const {
  std::vector<RunningJob> jobs;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    for (const AssignedJobs::Running& one : worker.jobs.running()) {
      const Attempt& attempt = deps_.attempts.at(one.attempt);
      if ((packages_[attempt.package].cooks & cooks) != 0)
        jobs.push_back({attempt.expected, step_.awake - one.began_at});
    }
  }
  return jobs;
}

void Stragglers::FindLongest(Progress& view) const {
  std::optional<std::pair<absl::Duration, AttemptId>> longest;
  for (const WorkerId id : workers_.attached().ring()) {
    for (const AssignedJobs::Running& one : workers_.Find(id)->jobs.running()) {
      const std::pair running(one.began_at, one.attempt);
      if (!longest || running < *longest) longest = running;
    }
  }
  if (!longest) return;
  view.longest = packages_.NameOf(deps_.attempts.at(longest->second).package);
  view.longest_for = step_.awake - longest->first;
  view.is_alone = longest->second == deps_.attempts.alone();
}

WorkerId Stragglers::IdleFor(const Attempt& attempt, bool is_elsewhere) const {
  WorkerId with_spare;  // where a spare job would have to end
  for (const WorkerId id : workers_.attached().idle()) {
    const Worker& worker = *workers_.Find(id);
    if ((is_elsewhere && id == attempt.worker) ||
        !deps_.worker_choice.MayTake(attempt.package, id, worker))
      continue;
    if (!IsEachFreeSlotSpare(worker.jobs)) return id;
    if (!with_spare.valid()) with_spare = id;
  }
  return with_spare;
}

void Stragglers::GiveBackup(PackageId id, WorkerId worker) {
  Work& work = *packages_[id].work;
  const Attempt& primary = deps_.attempts.at(work.attempt);
  const PlatformMask platforms = primary.remaining;
  const AttemptId backup =
      deps_.job_handover.Give(id, {.worker = worker}, platforms, primary.expected);
  deps_.attempts.SetBackup(backup);
  work.others.push_back(backup);
  ++work.attempts;
  ++work.backups;
  claimants_.Count(id, &Counters::backups_started);
}

WorkerId Stragglers::BestFor(const Attempt& attempt) const {
  WorkerId best;
  absl::Duration least;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    if (id == attempt.worker || worker.is_draining || worker.is_held ||
        deps_.worker_trust.IsDoubtful(id) ||
        worker.jobs.size() >= options_.window_jobs_max + worker.slots() ||
        !deps_.worker_choice.MayTake(attempt.package, id, worker))
      continue;
    const absl::Duration delay = DelayOfNew(worker.jobs, step_.awake);
    if (best.valid() && delay >= least) continue;
    best = id;
    least = delay;
  }
  return best;
}

}  // namespace galley::director
