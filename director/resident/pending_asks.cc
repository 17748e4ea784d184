#include "director/resident/pending_asks.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::director {

absl::Status PendingAsks::CheckRoom() const {
  if (has_ended_) return absl::UnavailableError("the director ends");
  if (asks_.size() >= PackageAsks::kAskersMax)
    return ResourceExhaustedError("{} wait for packages; no more may", asks_.size());
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> PendingAsks::Add(std::string package, std::string platform,
                                          PackageAsks::Callback callback) {
  base::MutexLock lock(mutex_);
  RETURN_IF_ERROR(CheckRoom());
  asks_.emplace(++last_, Pending{.package = std::move(package),
                                 .platform = std::move(platform),
                                 .callback = std::move(callback)});
  return last_;
}

// The shell may tell the outcome before it has told its number of the ask.
absl::StatusOr<uint64_t> PendingAsks::AskAhead(const std::shared_ptr<DirectorShell>& shell,
                                               std::string package, std::string platform,
                                               PackageAsks::Callback callback) {
  uint64_t number = 0;
  {
    base::MutexLock lock(mutex_);
    RETURN_IF_ERROR(CheckRoom());
    number = ++last_;
    asks_.emplace(number, Pending{.package = package,
                                  .platform = platform,
                                  .callback = std::move(callback),
                                  .is_ahead = true,
                                  .waits = false,
                                  .shell = shell,
                                  .shells = 1});
  }
  const auto in_shell =
      shell->AskAhead(std::move(package), std::move(platform),
                      [self = shared_from_this(), number](const AskOutcome& outcome) {
                        self->Tell(number, outcome);
                      });
  // If End was called meanwhile, the outcome is told already.
  if (!in_shell.ok() && Take(number).has_value()) return in_shell.status();
  if (!in_shell.ok()) return number;
  {
    base::MutexLock lock(mutex_);
    const auto found = asks_.find(number);
    if (found != asks_.end()) found->second.in_shell = *in_shell;
    if (found != asks_.end()) return number;
  }
  shell->Withdraw(*in_shell);
  return number;
}

std::optional<PendingAsks::Pending> PendingAsks::Take(uint64_t number) {
  base::MutexLock lock(mutex_);
  const auto found = asks_.find(number);
  if (found == asks_.end()) return std::nullopt;
  std::optional<Pending> taken = std::move(found->second);
  asks_.erase(found);
  return taken;
}

bool PendingAsks::Withdraw(uint64_t number) {
  const std::optional<Pending> taken = Take(number);
  if (!taken) return false;
  const auto shell = taken->shell.lock();
  if (shell != nullptr && taken->in_shell != 0) shell->Withdraw(taken->in_shell);
  return true;
}

std::vector<uint64_t> PendingAsks::Waiting() const {
  base::MutexLock lock(mutex_);
  std::vector<uint64_t> numbers;
  for (const auto& [number, one] : asks_) {
    if (one.waits) numbers.push_back(number);
  }
  return numbers;
}

bool PendingAsks::HasWaiting() const {
  base::MutexLock lock(mutex_);
  return std::ranges::any_of(asks_, [](const auto& one) { return one.second.waits; });
}

bool PendingAsks::empty() const {
  base::MutexLock lock(mutex_);
  return std::ranges::all_of(asks_, [](const auto& one) { return one.second.is_ahead; });
}

void PendingAsks::HandOverAll(const std::shared_ptr<DirectorShell>& shell) {
  for (const uint64_t number : Waiting()) HandOver(shell, number);
}

// The shell may tell the outcome before it has told its number of the ask.
void PendingAsks::HandOver(const std::shared_ptr<DirectorShell>& shell, uint64_t number) {
  std::string package, platform;
  uint32_t turn = 0;
  {
    base::MutexLock lock(mutex_);
    const auto found = asks_.find(number);
    if (found == asks_.end() || !found->second.waits) return;
    Pending& one = found->second;
    one.waits = false;
    one.shell = shell;
    one.in_shell = 0;
    turn = ++one.shells;
    package = one.package;
    platform = one.platform;
  }
  const auto in_shell =
      shell->Ask(package, platform, [self = shared_from_this(), number](const AskOutcome& outcome) {
        self->Tell(number, outcome);
      });
  if (!in_shell.ok()) {
    return Tell(number, AskAborted{.reason = MessageOf(in_shell.status()),
                                   .has_shell_ended = absl::IsUnavailable(in_shell.status())});
  }
  {
    base::MutexLock lock(mutex_);
    const auto found = asks_.find(number);
    const bool is_there =
        found != asks_.end() && !found->second.waits && found->second.shells == turn;
    if (is_there) found->second.in_shell = *in_shell;
    if (is_there) return;
  }
  shell->Withdraw(*in_shell);  // nobody waits any more, or not for this shell
}

void PendingAsks::Tell(uint64_t number, const AskOutcome& outcome) {
  const auto* const aborted = std::get_if<AskAborted>(&outcome);
  if (aborted != nullptr && aborted->has_shell_ended) {
    base::MutexLock lock(mutex_);
    const auto found = asks_.find(number);
    if (found == asks_.end()) return;
    if (!found->second.is_ahead && found->second.shells < kShellsMax && !has_ended_) {
      found->second.waits = true;
      return;
    }
  }
  const std::optional<Pending> taken = Take(number);
  if (taken) taken->callback(outcome);
}

void PendingAsks::Abort(const std::string& reason) {
  for (const uint64_t number : Waiting()) {
    const std::optional<Pending> taken = Take(number);
    if (taken) taken->callback(AskAborted{.reason = reason, .has_shell_ended = true});
  }
}

void PendingAsks::End(const std::string& reason) {
  std::vector<uint64_t> numbers;
  {
    base::MutexLock lock(mutex_);
    has_ended_ = true;
    for (const auto& [number, one] : asks_) numbers.push_back(number);
  }
  for (const uint64_t number : numbers) {
    const std::optional<Pending> taken = Take(number);
    if (!taken) continue;
    if (const auto shell = taken->shell.lock(); shell != nullptr && taken->in_shell != 0)
      shell->Withdraw(taken->in_shell);
    taken->callback(AskAborted{.reason = reason, .has_shell_ended = true});
  }
}

}  // namespace galley::director
