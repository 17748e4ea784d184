#include "director/core/jobs/attempts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

// Ids of different terms differ.
constexpr int kTermShift = 40;
// A job that takes less time than this may as well end.
constexpr absl::Duration kWorthAnExecutor = absl::Milliseconds(500);

}  // namespace

const Attempt* Attempts::Find(AttemptId id) const {
  const auto found = attempts_.find(id);
  return found == attempts_.end() ? nullptr : &found->second;
}

AttemptId Attempts::NewId() {
  return static_cast<AttemptId>(options_.term) << kTermShift | ++given_;
}

bool Attempts::IsOfAnotherTerm(AttemptId id) const { return id >> kTermShift != options_.term; }

void Attempts::Add(AttemptId id, const Attempt& attempt) {
  attempts_.emplace(id, attempt);
  workers_.Find(attempt.worker)->given.insert(id);
}

void Attempts::Forget(AttemptId id) {
  const Attempt& attempt = attempts_.at(id);
  GALLEY_CHECK(!attempt.is_current);
  ForgetRetracted(id);
  if (Worker* worker = workers_.Find(attempt.worker)) worker->given.erase(id);
  attempts_.erase(id);
}

void Attempts::ForgetLater(AttemptId id) {
  if (!std::exchange(attempts_.at(id).is_unheard, true)) unheard_.emplace_back(step_.awake, id);
}

void Attempts::ForgetLaterOf(WorkerId worker) {
  for (const AttemptId id : workers_.Find(worker)->given) ForgetLater(id);
}

std::optional<AttemptId> Attempts::TakeUnheard() {
  while (!unheard_.empty() && step_.awake - unheard_.front().first >= options_.unheard_max) {
    const AttemptId id = unheard_.front().second;
    unheard_.pop_front();
    if (attempts_.contains(id)) return id;
  }
  return std::nullopt;
}

void Attempts::SetAlone(AttemptId id) {
  EndAlone();
  alone_ = id;
  attempts_.at(id).is_alone = true;
}

void Attempts::EndAlone() {
  if (alone_ == 0) return;
  attempts_.at(alone_).is_alone = false;
  alone_ = 0;
}

void Attempts::SetBackup(AttemptId id) {
  attempts_.at(id).is_backup = true;
  ++backups_;
}

Attempt* Attempts::Current(AttemptId id) {
  const auto found = attempts_.find(id);
  return found == attempts_.end() || !found->second.is_current ? nullptr : &found->second;
}

std::vector<AttemptId> Attempts::At(PackageId id) const {
  const Work* work = packages_[id].work.get();
  if (work == nullptr || work->attempt == 0) return {};
  std::vector<AttemptId> current = {work->attempt};
  current.insert(current.end(), work->others.begin(), work->others.end());
  return current;
}

PlatformMask Attempts::StillInHand(PackageId id) const {
  PlatformMask platforms = 0;
  for (const AttemptId attempt : At(id)) platforms |= attempts_.at(attempt).remaining;
  return platforms;
}

// The caller calls Advance.
void Attempts::EndAttempt(AttemptId id, Tell tell) {
  Attempt& attempt = attempts_.at(id);
  attempt.is_current = false;
  const bool was_spare = workers_.Find(attempt.worker)->jobs.IsSpare(id);
  const absl::Duration ran = workers_.Drop(attempt.worker, id, step_.awake);
  if (was_spare) counts_.figures.ahead_slot_time += ran;
  notes_.attempts_ended.push_back({attempt.worker, id});
  if (alone_ == id) {
    alone_ = 0;
    alone_for_ += ran;
  }
  grants_.Release(id);
  Work& work = *packages_[attempt.package].work;
  if (work.attempt != id) {
    work.others.EraseIf([id](AttemptId other) { return other == id; });
  } else if (work.others.empty()) {
    work.attempt = 0;
  } else {
    work.attempt = work.others[0];
    work.others.EraseIf([&](AttemptId other) { return other == work.attempt; });
    attempt.is_backup = std::exchange(attempts_.at(work.attempt).is_backup, false);
  }
  backups_ -= std::exchange(attempt.is_backup, false);  // a backup that is left alone is none
  work.is_loaded = false;
  for (const AttemptId current : At(attempt.package))
    work.is_loaded |= attempts_.at(current).is_loaded;
  TakeBack(attempt, ~PlatformMask{0});
  const bool is_whole = attempt.remaining == 0 && !attempt.is_partial;
  // A copy of a small file takes less time than can be measured.
  if (is_whole && attempt.saves > 0)
    counts_.CookerOf(packages_[attempt.package]).jobs.Add(attempt.measured);
  if (is_whole && attempt.measured > absl::ZeroDuration()) {
    costs_.AddMeasurement(packages_[attempt.package].cost_traits, attempt.measured);
    overrun_histogram_.AddMeasurement(attempt.expected, ran);
    claimants_.ForEachOf(packages_[attempt.package].cooks, [&](Claimant& cook) {
      cook.tally.monitor.AddMeasurement(attempt.expected, attempt.measured);
    });
  }
  if (attempt.expected >= OverrunHistogram::kTellsSomething && is_whole && attempt.saves > 0)
    workers_.Find(attempt.worker)->health.pace.AddMeasurement(attempt.expected, ran);
  if (tell == Tell::kCancel) effects_.DesireFor(attempt.worker).cancel.push_back(id);
  if (tell != Tell::kRetract) return;
  effects_.DesireFor(attempt.worker).retract.push_back(id);
  retracted_[attempt.package].push_back(id);
  if (IsSabotaged(Sabotage::kForgetAttempt)) unheard_.emplace_front(-absl::InfiniteDuration(), id);
}

void Attempts::EndAttempts(PackageId id) {
  for (const AttemptId attempt : At(id)) EndAttempt(attempt, Tell::kCancel);
  CancelOutrun(id, ~PlatformMask{0});
}

void Attempts::EndSpent(PackageId id, AttemptId reporter) {
  const std::vector<AttemptId> current = At(id);
  const bool is_race = current.size() > 1;
  if (is_race) NoteOutrun(id, reporter);
  const PlatformMask in_doubt = InPhase(packages_[id], Phase::kCommitting);
  for (const AttemptId attempt : current) {
    if (attempts_.at(attempt).remaining != 0) continue;
    if (attempt == reporter) {
      EndAttempt(attempt, attempts_.at(attempt).is_split ? Tell::kRetract : Tell::kNothing);
      continue;
    }
    // The loser goes on until the results that others made in its place are durable: such a result
    // may be refused, and then the loser makes it. Then the loser is cancelled, since it may never
    // end. A short job may as well end, as cancelling costs its worker a warm executor. A job that
    // holds a resource must not go on without the resource.
    Attempt& loser = attempts_.at(attempt);
    const bool is_short = !is_race && loser.expected < kWorthAnExecutor;
    const bool goes_on = loser.group == 0 && (is_short || in_doubt != 0);
    if (goes_on && !is_short) loser.in_doubt = in_doubt;
    effects_.is_persist_urgent |= loser.in_doubt != 0;  // its worker is thought to have room
    EndAttempt(attempt, goes_on ? Tell::kRetract : Tell::kCancel);
  }
}

// The reporter's time tells how slow the attempts are that had begun the same package before.
void Attempts::NoteOutrun(PackageId id, AttemptId reporter) {
  const Attempt* const first = Find(reporter);
  if (first == nullptr || machines_.HasFailed(workers_.Find(first->worker)) ||
      first->remaining != 0 || first->is_partial || first->saves == 0 ||
      first->measured < OverrunHistogram::kTellsSomething)
    return;
  for (const AttemptId other : At(id)) {
    Worker& worker = *workers_.Find(attempts_.at(other).worker);
    const std::optional<absl::Duration> began_at = worker.jobs.BeganAt(other);
    if (other != reporter && began_at && !worker.jobs.IsUploading(other))
      worker.health.pace.AddOutrun(first->measured, step_.awake - *began_at);
  }
}

void Attempts::TakeBack(const Attempt& attempt, PlatformMask platforms) {
  const PackageData& package = packages_[attempt.package];
  platforms &= ~StillInHand(attempt.package);
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((platforms & MaskOf(p)) && package.slots[p].phase == Phase::kInHand)
      graph_.lifecycle().SetPhase(attempt.package, p, Phase::kToCook);
  }
}

void Attempts::ForgetRetracted(AttemptId id) {
  const auto found = retracted_.find(attempts_.at(id).package);
  if (found == retracted_.end()) return;
  std::erase(found->second, id);
  if (found->second.empty()) retracted_.erase(found);
}

void Attempts::ForgetRetractedOf(WorkerId worker) {
  for (auto at = retracted_.begin(); at != retracted_.end();) {
    std::erase_if(at->second, [&](AttemptId id) { return attempts_.at(id).worker == worker; });
    at = at->second.empty() ? retracted_.erase(at) : std::next(at);
  }
}

std::span<const AttemptId> Attempts::RetractedAt(PackageId id) const {
  const auto found = retracted_.find(id);
  return found == retracted_.end() ? std::span<const AttemptId>() : found->second;
}

void Attempts::Cancel(std::span<const AttemptId> retracted) {
  for (const AttemptId attempt : retracted) {
    const WorkerId where = attempts_.at(attempt).worker;
    if (workers_.Find(where)->presence == Worker::Presence::kAttached)
      effects_.DesireFor(where).cancel.push_back(attempt);
  }
}

void Attempts::CancelRetracted(PackageId package) {
  Cancel(RetractedAt(package));
  retracted_.erase(package);
}

void Attempts::CancelOutrun(PackageId package, PlatformMask durable) {
  std::vector<AttemptId> outrun;
  for (const AttemptId id : RetractedAt(package)) {
    Attempt& attempt = attempts_.at(id);
    if (attempt.in_doubt == 0) continue;
    attempt.in_doubt &= ~durable;
    if (attempt.in_doubt == 0) outrun.push_back(id);
  }
  Cancel(outrun);
  for (const AttemptId id : outrun) ForgetRetracted(id);
}

void Attempts::CancelAllRetracted() {
  for (const auto& [package, retracted] : retracted_) Cancel(retracted);
  retracted_.clear();
}

void Attempts::CheckInvariants(PackageId id) const {
  const Work& work = *packages_[id].work;
  bool is_loaded = false;
  for (const AttemptId current : At(id)) {
    const auto attempt = attempts_.find(current);
    GALLEY_CHECK(attempt != attempts_.end() && attempt->second.is_current &&
                 attempt->second.package == id);
    GALLEY_CHECK(workers_.Find(attempt->second.worker)->jobs.Contains(current));
    is_loaded |= attempt->second.is_loaded;
  }
  GALLEY_CHECK(work.is_loaded == is_loaded);
  GALLEY_CHECK(work.attempt != 0 || work.others.empty());
  for (const AttemptId other : work.others) {
    const Attempt& beside = attempts_.at(other);
    GALLEY_CHECK(beside.group == 0);
    GALLEY_CHECK(!beside.is_backup ||
                 (work.others.size() == 1 && beside.worker != attempts_.at(work.attempt).worker));
  }
}

void Attempts::CheckHands() const {
  for (const auto& [package, retracted] : retracted_) {
    for (const AttemptId id : retracted) {
      const auto attempt = attempts_.find(id);
      GALLEY_CHECK(attempt != attempts_.end() && !attempt->second.is_current &&
                   attempt->second.package == package);
    }
  }
  uint64_t backups_held = 0;
  for (const WorkerId id : workers_.Holding()) {
    absl::Duration expected;
    for (const AttemptId attempt : workers_.Find(id)->jobs.All()) {
      const Attempt& held = attempts_.at(attempt);
      const Work& work = *packages_[held.package].work;
      GALLEY_CHECK(held.is_current && held.worker == id);
      const auto beside = std::ranges::find(work.others, attempt);
      GALLEY_CHECK((work.attempt == attempt) != (beside != work.others.end()));
      GALLEY_CHECK(!held.is_backup || work.attempt != attempt);
      backups_held += held.is_backup;
      const AssignedJobs& hand = workers_.Find(id)->jobs;
      if (!hand.IsPending(attempt) && !hand.IsUploading(attempt) && !hand.IsSpare(attempt))
        expected += held.expected;
    }
    GALLEY_CHECK(expected == workers_.Find(id)->jobs.expected());
  }
  GALLEY_CHECK(backups_held == backups_);
}

}  // namespace galley::director
