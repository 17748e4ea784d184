#include "director/core/jobs/resumed_attempts.h"

#include "common/base/sabotage.h"

namespace galley::director {

namespace {

// The content of attempts that were given before a change.
constexpr uint64_t kOutdated = ~uint64_t{0};

}  // namespace

bool ResumedAttempts::IsResumed(AttemptId id) const {
  const Attempt* attempt = attempts_.Find(id);
  if (attempt == nullptr) return false;
  const auto found = resumed_.find(attempt->package);
  return found != resumed_.end() && found->second.attempt == id;
}

void ResumedAttempts::ForgetResumed(AttemptId id) {
  if (IsResumed(id)) Erase(resumed_.find(attempts_.at(id).package));
}

void ResumedAttempts::ForgetAttempt(AttemptId id) {
  ForgetResumed(id);
  if (const auto given = given_.find(attempts_.at(id).package); given != given_.end()) {
    std::erase(given->second, id);
    if (given->second.empty()) given_.erase(given);
  }
  attempts_.Forget(id);
}

void ResumedAttempts::ForgetUnheard() {
  while (const std::optional<AttemptId> unheard = attempts_.TakeUnheard()) ForgetAttempt(*unheard);
}

void ResumedAttempts::Add(PackageId package, AttemptId attempt,
                          const std::optional<Digest>& generated_source) {
  given_[package].push_back(attempt);
  // When two attempts have one package, the attempt that was given first goes on.
  resumed_.emplace(package, Resumed{attempt, generated_source});
  unsettled_.insert(package);
}

std::optional<ResumedAttempts::Resumed> ResumedAttempts::Take(PackageId package) {
  const auto found = resumed_.find(package);
  if (found == resumed_.end()) return std::nullopt;
  std::optional<Resumed> taken(found->second);
  Erase(found);
  return taken;
}

void ResumedAttempts::ForgetResumedOf(WorkerId worker) {
  for (auto at = resumed_.begin(); at != resumed_.end();) {
    const bool is_its = attempts_.at(at->second.attempt).worker == worker;
    at = is_its ? Erase(at) : std::next(at);
  }
}

void ResumedAttempts::Outdate(PackageId id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;
  for (const AttemptId given : found->second) {
    Attempt& attempt = attempts_.at(given);
    if (!attempt.is_earlier) continue;
    if (IsResumed(given)) {
      effects_.DesireFor(attempt.worker).cancel.push_back(given);
      Erase(resumed_.find(id));
    }
    attempt.is_earlier = false;
    attempt.content = kOutdated;
  }
  given_.erase(found);
}

void ResumedAttempts::CancelResumed() {
  for (auto at = resumed_.begin(); at != resumed_.end(); at = Erase(at))
    effects_.DesireFor(attempts_.at(at->second.attempt).worker)
        .cancel.push_back(at->second.attempt);
}

ResumedAttempts::ByPackage::iterator ResumedAttempts::Erase(ByPackage::iterator at) {
  grants_.Release(at->second.attempt);
  unsettled_.erase(at->first);
  return resumed_.erase(at);
}

// True: the attempt's results are made from the package's present inputs. For an attempt of an
// earlier term the shell has compared files and settings; but a generated source may be another one
// now.
bool ResumedAttempts::IsOfToday(const Attempt& attempt) const {
  if (attempt.is_earlier) return GeneratorName(packages_.NameOf(attempt.package)).empty();
  return attempt.content == packages_[attempt.package].content ||
         IsSabotaged(Sabotage::kSkipEpochCheck);
}

void ResumedAttempts::EndUnwanted() {
  if (claimants_.masks().active == 0) CancelResumed();
  for (const WorkerId worker : workers_.Holding()) {
    for (const AttemptId attempt : workers_.Find(worker)->jobs.All()) {
      // The attempt ended with an earlier one of the loop.
      if (attempts_.Current(attempt) == nullptr) continue;
      const PackageId package = attempts_.at(attempt).package;
      if (!claimants_.IsWanted(package)) attempts_.EndAttempt(attempt, Tell::kCancel);
    }
  }
}

}  // namespace galley::director
