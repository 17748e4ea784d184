#include "director/shell/package_asks.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::optional<PlatformIndex> IndexOf(const Sources& sources, const std::string& platform) {
  const PlatformsPtr platforms = sources.platforms();
  for (PlatformIndex p = 0; p < platforms->size(); ++p) {
    if ((*platforms)[p].name == platform) return p;
  }
  return std::nullopt;
}

// Says whether the store has the outputs of the result, and what its load generated.
absl::StatusOr<bool> HasBytes(store::Store& store, const record::Result& result) {
  std::vector<Digest> digests;
  for (const record::Output& output : result.outputs) digests.push_back(output.digest);
  for (const record::Generated& generated : result.details.generated)
    digests.push_back(generated.source);
  if (digests.empty()) return true;
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, store.FindMissing(digests));
  return missing.empty();
}

}  // namespace

bool AskFailed::is_infrastructure() const {
  switch (cause) {
    case FailureCause::kProject:
    case FailureCause::kVerdict:
    case FailureCause::kPackage:
    case FailureCause::kLimit:
      return false;
    case FailureCause::kRefused:
    case FailureCause::kMachine:
    case FailureCause::kUnread:
    case FailureCause::kUnproven:
      return true;
  }
  return true;
}

PackageAsks::~PackageAsks() { End("the director ends"); }

// ------------------------------------------------------------------ who waits; any thread

absl::StatusOr<uint64_t> PackageAsks::Ask(std::string package, std::string platform,
                                          Callback callback) {
  return Add({.package = std::move(package), .platform = std::move(platform), .askers = {}},
             std::move(callback));
}

absl::StatusOr<uint64_t> PackageAsks::AskAhead(std::string package, std::string platform,
                                               Callback callback) {
  return Add({.package = std::move(package),
              .platform = std::move(platform),
              .askers = {},
              .is_ahead = true},
             std::move(callback));
}

absl::StatusOr<uint64_t> PackageAsks::Add(Target target, Callback callback) {
  uint64_t asker = 0;
  {
    base::MutexLock lock(mutex_);
    if (has_ended_) return absl::UnavailableError("the director ends");
    if (waiting_.size() >= kAskersMax)
      return ResourceExhaustedError("{} wait for packages; no more may", waiting_.size());
    asker = ++last_asker_;
    waiting_.emplace(asker, std::move(callback));
  }
  target.askers = {asker};
  deps_.inbox.PostTask([this, asker, target = std::move(target)] {
    if (IsWaiting(asker)) Join(target);
  });
  return asker;
}

void PackageAsks::Withdraw(uint64_t asker) {
  if (IsSabotaged(Sabotage::kAnswerWithdrawn)) return;
  if (TakeCallback(asker) == nullptr) return;
  deps_.inbox.PostTask([this, asker] { Leave(asker); });
}

bool PackageAsks::IsWaiting(uint64_t asker) const {
  base::MutexLock lock(mutex_);
  return waiting_.contains(asker);
}

// Null: nobody waits under this number any more.
PackageAsks::Callback PackageAsks::TakeCallback(uint64_t asker) {
  base::MutexLock lock(mutex_);
  const auto found = waiting_.find(asker);
  if (found == waiting_.end()) return nullptr;
  Callback callback = std::move(found->second);
  waiting_.erase(found);
  return callback;
}

void PackageAsks::End(const std::string& reason) {
  std::map<uint64_t, Callback> waiting;
  {
    base::MutexLock lock(mutex_);
    has_ended_ = true;
    waiting.swap(waiting_);
  }
  for (const auto& [asker, callback] : waiting)
    callback(AskAborted{.reason = reason, .has_shell_ended = true});
}

// ------------------------------------------------------------------ what is asked of the core

void PackageAsks::Join(Target target) {
  const auto open = open_.find(KeyOf(target));
  const uint64_t ask = open != open_.end() ? open->second : ++last_ask_;
  for (const uint64_t asker : target.askers) asked_[asker] = ask;
  if (open == open_.end()) {
    targets_.emplace(ask, std::move(target));
    return AskCore(ask);
  }
  Target& other = targets_.at(ask);
  other.askers.merge(target.askers);
  other.losses = std::max(other.losses, target.losses);
}

// The core may answer within the call.
void PackageAsks::AskCore(uint64_t ask) {
  const Target& target = targets_.at(ask);
  const std::optional<PlatformIndex> platform = IndexOf(*deps_.sources(), target.platform);
  if (!platform.has_value()) {
    return Tell(ask, AskAborted{.reason = fmt::format("the project has no platform \"{}\" any more",
                                                      target.platform)});
  }
  open_[KeyOf(target)] = ask;
  deps_.inbox.HandleNow(PackageAsked{
      .ask = ask, .package = target.package, .platform = *platform, .is_ahead = target.is_ahead});
}

void PackageAsks::Leave(uint64_t asker) {
  const auto found = asked_.find(asker);
  if (found == asked_.end()) return;
  const uint64_t ask = found->second;
  asked_.erase(found);
  std::set<uint64_t>& askers = targets_.at(ask).askers;
  askers.erase(asker);
  if (!askers.empty()) return;
  Close(ask);
  deps_.inbox.HandleNow(AskWithdrawn{ask});
}

PackageAsks::Target PackageAsks::Close(uint64_t ask) {
  const auto found = targets_.find(ask);
  Target target = std::move(found->second);
  targets_.erase(found);
  const auto open = open_.find(KeyOf(target));
  if (open != open_.end() && open->second == ask) open_.erase(open);
  return target;
}

void PackageAsks::TakeEnded(const AskEnded& ended) {
  const auto found = targets_.find(ended.ask);
  if (found == targets_.end()) return;
  // Whoever asks from now on may do so in a newer world: the core is asked again.
  open_.erase(KeyOf(found->second));
  if (!ended.infrastructure_error.empty())
    return Tell(ended.ask, AskAborted{.reason = ended.infrastructure_error});
  if (ended.failed.has_value()) {
    const PackageFailed& failed = *ended.failed;
    return Tell(ended.ask, AskFailed{.stage = failed.stage,
                                     .error = failed.error,
                                     .log = failed.log,
                                     .cause = failed.cause,
                                     .world = deps_.world()});
  }
  AskSucceeded done{.result = deps_.results.Get(ended.result), .world = deps_.world()};
  if (done.result == nullptr)
    return Tell(ended.ask, AskAborted{.reason = "the result is not known any more"});
  if (ended.was_cooked)
    done.ran_for = done.result->last_cook.load_time + done.result->last_cook.save_time;
  if (!done.result->is_in_journal) return Tell(ended.ask, done);
  CheckBytes(ended.ask, std::move(done));
}

void PackageAsks::Tell(uint64_t ask, const AskOutcome& outcome) {
  const Target target = Close(ask);
  for (const uint64_t asker : target.askers) {
    asked_.erase(asker);
    if (const Callback callback = TakeCallback(asker)) callback(outcome);
  }
}

// ------------------------------------------------------------------ bytes that the store lost

void PackageAsks::CheckBytes(uint64_t ask, AskSucceeded done) {
  deps_.tasks.Post([this, ask, done = std::move(done)] {
    const absl::StatusOr<bool> is_whole = HasBytes(deps_.store, done.result->result);
    deps_.inbox.PostTask([this, ask, done, is_whole] { TakeCheck(ask, done, is_whole); });
  });
}

void PackageAsks::TakeCheck(uint64_t ask, const AskSucceeded& done,
                            const absl::StatusOr<bool>& is_whole) {
  const auto found = targets_.find(ask);
  if (found == targets_.end()) return;  // nobody waits any more
  if (!is_whole.ok()) return Tell(ask, AskAborted{.reason = MessageOf(is_whole.status())});
  if (*is_whole) return Tell(ask, done);
  if (++found->second.losses > kLossesMax) {
    return Tell(ask, AskAborted{.reason = fmt::format("the store loses the outputs of {} again and "
                                                      "again",
                                                      found->second.package)});
  }
  MakeAgain(ask);
}

// First the journal distrusts its record, which names the lost bytes.
void PackageAsks::MakeAgain(uint64_t ask) {
  const std::string package = targets_.at(ask).package;
  LogWarning("package={} its bytes in the store are gone: it is made again", package);
  deps_.commit_tasks.Post([this, ask, package] {
    const std::vector<std::string> packages = {package};
    const absl::Status distrusted = deps_.journal.Invalidate(packages, deps_.journal.meta());
    deps_.inbox.PostTask([this, ask, packages, distrusted] {
      if (!distrusted.ok()) {
        if (targets_.contains(ask)) Tell(ask, AskAborted{.reason = MessageOf(distrusted)});
        return;
      }
      deps_.inbox.HandleNow(PackagesCleared{packages});
      deps_.inbox.HandleNow(LossSeen{});  // a found loss is seldom the only loss
      AskAgain(ask);
    });
  });
}

void PackageAsks::AskAgain(uint64_t ask) {
  if (targets_.contains(ask)) Join(Close(ask));
}

}  // namespace galley::director
