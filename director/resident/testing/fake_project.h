// FakeProject: for tests of what devices see: a project on the disk whose packages are cooked by
// what the test says.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/record/result.h"
#include "common/store/interface/store.h"
#include "director/resident/present_project.h"
#include "director/shell/package_asks.h"
#include "director/shell/result_table.h"

namespace galley::director {

// FakeProject: answers asks at once where the test has said what a package comes to; other asks
// wait until the test says that.
class FakeProject final : public PresentProject {
 public:
  void SetWorld(WorldPtr world) {
    base::MutexLock lock(mutex_);
    world_ = std::move(world);
  }
  void SetRules(const std::string& rules) {
    base::MutexLock lock(mutex_);
    rules_ = rules;
  }
  void SetPrograms(const std::string& programs) {
    base::MutexLock lock(mutex_);
    programs_ = programs;
  }
  // The director takes up newer rules, until this is called with false.
  void HoldRules(bool are_held) {
    base::MutexLock lock(mutex_);
    are_rules_held_ = are_held;
  }
  // The package comes to this, on all platforms, in the world that is present when it is asked for.
  void Cooks(const std::string& package, record::Result result) {
    Settle(package, {.result = std::move(result)});
  }
  void Fails(const std::string& package, const std::string& error,
             FailureCause cause = FailureCause::kVerdict) {
    Settle(package, {.error = error, .cause = cause});
  }
  // From now on workers are idle, and cook ahead; each such cook takes `ran_for` (zero: its result
  // was there). Until then they rest.
  void LetCookAhead(absl::Duration ran_for) {
    base::MutexLock lock(mutex_);
    ahead_ran_for_ = ran_for;
  }
  // The workers end: asks ahead are aborted, until LetCookAhead.
  void Rest() {
    std::vector<PackageAsks::Callback> aborted;
    {
      base::MutexLock lock(mutex_);
      ahead_ran_for_ = std::nullopt;
      for (auto at = waiting_.begin(); at != waiting_.end();) {
        const auto here = at++;
        if (!here->second.is_ahead) continue;
        aborted.push_back(here->second.callback);
        waiting_.erase(here);
      }
    }
    for (const auto& callback : aborted)
      callback(AskAborted{.reason = "the workers end", .has_shell_ended = true});
  }
  // Asks wait again.
  void Forget(const std::string& package) {
    base::MutexLock lock(mutex_);
    outcomes_.erase(package);
  }
  // The packages for which somebody waits.
  std::multiset<std::string> Waiting() const {
    base::MutexLock lock(mutex_);
    std::multiset<std::string> packages;
    for (const auto& [ask, one] : waiting_) packages.insert(one.package);
    return packages;
  }
  // "/Game/a.png linux" of each package that was asked for ahead of need, in this order.
  std::vector<std::string> AskedAhead() const {
    base::MutexLock lock(mutex_);
    return asked_ahead_;
  }
  // How often somebody who waits asked for the package.
  int AskedFor(const std::string& package) const {
    base::MutexLock lock(mutex_);
    const auto found = asked_.find(package);
    return found == asked_.end() ? 0 : found->second;
  }

  absl::StatusOr<WorldPtr> Get() const override {
    base::MutexLock lock(mutex_);
    if (world_ == nullptr) return absl::UnavailableError("the files are looked at");
    return world_;
  }
  absl::StatusOr<uint64_t> Ask(std::string package, std::string platform,
                               PackageAsks::Callback callback) override {
    return Begin({.package = std::move(package),
                  .platform = std::move(platform),
                  .callback = std::move(callback)});
  }
  absl::StatusOr<uint64_t> AskAhead(std::string package, std::string platform,
                                    PackageAsks::Callback callback) override {
    return Begin({.package = std::move(package),
                  .platform = std::move(platform),
                  .callback = std::move(callback),
                  .is_ahead = true});
  }
  void Withdraw(uint64_t ask) override {
    base::MutexLock lock(mutex_);
    waiting_.erase(ask);
  }
  absl::StatusOr<Digest> RulesOf(const World&) const override {
    base::MutexLock lock(mutex_);
    if (are_rules_held_) return absl::UnavailableError("newer rules are taken up");
    return Digest::Of(rules_ + programs_);
  }
  Digest ProgramsOf(const World&) const override {
    base::MutexLock lock(mutex_);
    return Digest::Of(programs_);
  }

 private:
  struct Outcome {
    std::optional<record::Result> result = std::nullopt;  // nullopt: it fails
    std::string error = {};
    FailureCause cause = FailureCause::kVerdict;
  };
  struct Waiter {
    std::string package;
    std::string platform;
    PackageAsks::Callback callback;
    bool is_ahead = false;
  };

  absl::StatusOr<uint64_t> Begin(Waiter waiter) {
    std::optional<AskOutcome> outcome;
    const PackageAsks::Callback callback = waiter.callback;
    uint64_t ask = 0;
    {
      base::MutexLock lock(mutex_);
      if (world_ == nullptr) return absl::UnavailableError("the files are looked at");
      if (waiter.is_ahead && !ahead_ran_for_) return absl::UnavailableError("the workers rest");
      ask = ++last_ask_;
      if (waiter.is_ahead) {
        asked_ahead_.push_back(waiter.package + " " + waiter.platform);
      } else {
        ++asked_[waiter.package];
      }
      const auto known = outcomes_.find(waiter.package);
      if (known != outcomes_.end()) {
        outcome = OutcomeOf(waiter, known->second);
      } else {
        waiting_[ask] = std::move(waiter);
      }
    }
    if (outcome) callback(*outcome);
    return ask;
  }
  AskOutcome OutcomeOf(const Waiter& waiter, const Outcome& outcome) const GALLEY_REQUIRES(mutex_) {
    if (!outcome.result)
      return AskFailed{.error = outcome.error, .cause = outcome.cause, .world = world_};
    auto stored = std::make_shared<StoredResult>();
    stored->package = waiter.package;
    stored->platform_name = waiter.platform;
    stored->result = *outcome.result;
    std::string key = waiter.package + waiter.platform;
    for (const record::Output& output : outcome.result->outputs) key += output.digest.ToString();
    stored->action_key = Digest::Of(key);
    return AskSucceeded{.result = std::move(stored),
                        .world = world_,
                        .ran_for = waiter.is_ahead ? ahead_ran_for_.value_or(absl::ZeroDuration())
                                                   : absl::Milliseconds(1)};
  }
  void Settle(const std::string& package, Outcome outcome) {
    std::vector<std::pair<PackageAsks::Callback, AskOutcome>> told;
    {
      base::MutexLock lock(mutex_);
      outcomes_[package] = std::move(outcome);
      for (auto at = waiting_.begin(); at != waiting_.end();) {
        const auto here = at++;
        const Waiter& one = here->second;
        if (one.package != package) continue;
        told.emplace_back(one.callback, OutcomeOf(one, outcomes_[package]));
        waiting_.erase(here);
      }
    }
    for (const auto& [callback, one] : told) callback(one);
  }

  mutable base::Mutex mutex_;
  WorldPtr world_ GALLEY_GUARDED_BY(mutex_);
  std::string rules_ GALLEY_GUARDED_BY(mutex_) = "rules";
  uint64_t last_ask_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Waiter> waiting_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, Outcome> outcomes_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, int> asked_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::string> asked_ahead_ GALLEY_GUARDED_BY(mutex_);
  std::optional<absl::Duration> ahead_ran_for_ GALLEY_GUARDED_BY(mutex_);  // nullopt: workers rest
  std::string programs_ GALLEY_GUARDED_BY(mutex_);
  bool are_rules_held_ GALLEY_GUARDED_BY(mutex_) = false;
};

}  // namespace galley::director
