// PackageAsks: devices that wait for one package on one platform each, beside the cooks. Whoever
// waits for the same package and platform shares one ask of the core (core/cooks/asks.h), which
// ends with the last of them.
//
//   Ask        PackageAsked, unless somebody waits for the same
//   AskEnded   tells all who wait
//   Withdraw   AskWithdrawn, unless somebody else waits for the same
//
// AskAhead is for a package for which nobody waits yet: the core cooks it only with slots that
// nothing else wants. It is an ask of its own beside that of whoever waits for the same, and the
// core makes the package once for both.
//
// A result is told when it is durable, and when the store says that it has the bytes: what is up to
// date by the journal may have been collected. If bytes are gone, the package is made again first.
// Deadlines are the caller's, by Withdraw.
//
// Cost: O(log n) for each call; n <= kAskersMax.
// Threads: Ask, AskAhead, Withdraw, End: any; the other functions: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/inbox.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/tasks.h"
#include "director/shell/world.h"

namespace galley::director {

// The package is done on the platform. `result` has the key, the outputs, the details and the log.
struct AskSucceeded {
  StoredResultPtr result;
  WorldPtr world;  // in which the core found the package done
  // How long the attempt that made the result loaded and saved; zero: none ran for the ask, since
  // the result was there.
  absl::Duration ran_for;
};

// The package fails on the platform.
struct AskFailed {
  Stage stage = Stage::kRequest;
  std::string error;
  std::string log;  // digest text, or empty
  FailureCause cause = FailureCause::kProject;
  WorldPtr world;  // in which the core found that the package fails

  // Says whether machines or the store are at fault, and not the project: the next ask may succeed.
  bool is_infrastructure() const;
};

// Nobody knows what becomes of the package: the director or the shell cannot go on.
struct AskAborted {
  std::string reason;
  bool has_shell_ended = false;  // the director may have another shell soon
};

using AskOutcome = std::variant<AskSucceeded, AskFailed, AskAborted>;

class PackageAsks {
 public:
  static constexpr size_t kAskersMax = 65'536;
  // A package whose bytes are gone again and again is made again so many times.
  static constexpr uint32_t kLossesMax = 3;

  // Everything in Deps outlives PackageAsks.
  struct Deps {
    store::Store& store;
    Journal& journal;
    const ResultTable& results;
    Tasks& commit_tasks;  // run in order with the commits
    Tasks& tasks;         // run beside the commits
    Inbox& inbox;
    PresentSources sources;
    std::function<WorldPtr()> world;  // the world that the core knows
  };
  explicit PackageAsks(Deps deps) : deps_(std::move(deps)) {}
  // Calls End.
  ~PackageAsks();
  PackageAsks(const PackageAsks&) = delete;
  PackageAsks& operator=(const PackageAsks&) = delete;

  using Callback = std::function<void(const AskOutcome& outcome)>;
  // Asks for the package on the platform of this name. Returns a number for Withdraw. `callback` is
  // called once: on the loop's thread, where it must not block, or on the thread that calls End.
  // UNAVAILABLE: the shell has ended. RESOURCE_EXHAUSTED: too many wait. After an error the
  // callback is not called.
  absl::StatusOr<uint64_t> Ask(std::string package, std::string platform, Callback callback);
  // Like Ask, but nobody waits for the outcome, which may take long.
  absl::StatusOr<uint64_t> AskAhead(std::string package, std::string platform, Callback callback);
  // Nobody waits any more under this number. When the call returns, the callback is gone, or it
  // runs or has run.
  void Withdraw(uint64_t asker);

  void TakeEnded(const AskEnded& ended);
  // True: nobody waits.
  bool empty() const { return targets_.empty(); }

  // Tells all who wait that the shell has ended; nobody can ask from now on.
  void End(const std::string& reason);

 private:
  // Target: a package and platform for which somebody waits.
  struct Target {
    std::string package;
    std::string platform;
    std::set<uint64_t> askers;
    bool is_ahead = false;
    uint32_t losses = 0;  // how often bytes of its results were gone
  };
  using Key = std::tuple<std::string, std::string, bool>;  // package, platform, is_ahead
  static Key KeyOf(const Target& target) {
    return {target.package, target.platform, target.is_ahead};
  }

  absl::StatusOr<uint64_t> Add(Target target, Callback callback);
  bool IsWaiting(uint64_t asker) const;
  Callback TakeCallback(uint64_t asker);
  void Join(Target target);
  void AskCore(uint64_t ask);
  void Leave(uint64_t asker);
  Target Close(uint64_t ask);
  void Tell(uint64_t ask, const AskOutcome& outcome);
  void CheckBytes(uint64_t ask, AskSucceeded done);
  void TakeCheck(uint64_t ask, const AskSucceeded& done, const absl::StatusOr<bool>& is_whole);
  void MakeAgain(uint64_t ask);
  void AskAgain(uint64_t ask);

  const Deps deps_;
  std::map<uint64_t, Target> targets_;  // by the core's ask
  std::map<Key, uint64_t> open_;        // targets for which the core has not answered
  std::map<uint64_t, uint64_t> asked_;  // asker -> the core's ask
  uint64_t last_ask_ = 0;

  mutable base::Mutex mutex_;
  std::map<uint64_t, Callback> waiting_ GALLEY_GUARDED_BY(mutex_);  // by asker
  uint64_t last_asker_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool has_ended_ GALLEY_GUARDED_BY(mutex_) = false;
};

}  // namespace galley::director
