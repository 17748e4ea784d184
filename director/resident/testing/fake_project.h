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
  // The package comes to this, on all platforms, in the world that is present when it is asked for.
  void Cooks(const std::string& package, record::Result result) {
    Settle(package, {.result = std::move(result)});
  }
  void Fails(const std::string& package, const std::string& error,
             FailureCause cause = FailureCause::kVerdict) {
    Settle(package, {.error = error, .cause = cause});
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
  // The workers rest: nothing can be asked for ahead of need.
  void SetResting(bool is_resting) {
    base::MutexLock lock(mutex_);
    is_resting_ = is_resting;
  }
  // How often the package was asked for ahead of need.
  int AskedAheadFor(const std::string& package) const {
    base::MutexLock lock(mutex_);
    const auto found = asked_ahead_.find(package);
    return found == asked_ahead_.end() ? 0 : found->second;
  }
  // How often the package was asked for by somebody who waits.
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
    return Take(std::move(package), std::move(platform), std::move(callback), /*is_ahead=*/false);
  }
  absl::StatusOr<uint64_t> AskAhead(std::string package, std::string platform,
                                    PackageAsks::Callback callback) override {
    return Take(std::move(package), std::move(platform), std::move(callback), /*is_ahead=*/true);
  }
  void Withdraw(uint64_t ask) override {
    base::MutexLock lock(mutex_);
    waiting_.erase(ask);
  }
  absl::StatusOr<Digest> RulesOf(const World&) const override {
    base::MutexLock lock(mutex_);
    return Digest::Of(rules_);
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
  };

  absl::StatusOr<uint64_t> Take(std::string package, std::string platform,
                                PackageAsks::Callback callback, bool is_ahead) {
    std::optional<AskOutcome> outcome;
    uint64_t ask = 0;
    {
      base::MutexLock lock(mutex_);
      if (world_ == nullptr) return absl::UnavailableError("the files are looked at");
      if (is_ahead && is_resting_) return absl::UnavailableError("the workers rest");
      ask = ++last_ask_;
      ++(is_ahead ? asked_ahead_ : asked_)[package];
      const auto known = outcomes_.find(package);
      if (known != outcomes_.end()) {
        outcome = OutcomeOf(package, platform, known->second);
      } else {
        waiting_[ask] = {std::move(package), std::move(platform), std::move(callback)};
      }
    }
    if (outcome) callback(*outcome);
    return ask;
  }
  AskOutcome OutcomeOf(const std::string& package, const std::string& platform,
                       const Outcome& outcome) const GALLEY_REQUIRES(mutex_) {
    if (!outcome.result)
      return AskFailed{.error = outcome.error, .cause = outcome.cause, .world = world_};
    auto stored = std::make_shared<StoredResult>();
    stored->package = package;
    stored->platform_name = platform;
    stored->result = *outcome.result;
    std::string key = package + platform;
    for (const record::Output& output : outcome.result->outputs) key += output.digest.ToString();
    stored->action_key = Digest::Of(key);
    return AskSucceeded{.result = std::move(stored), .world = world_};
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
        told.emplace_back(one.callback, OutcomeOf(package, one.platform, outcomes_[package]));
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
  std::map<std::string, int> asked_ahead_ GALLEY_GUARDED_BY(mutex_);
  bool is_resting_ GALLEY_GUARDED_BY(mutex_) = false;
};

}  // namespace galley::director
