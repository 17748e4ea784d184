// PendingAsks: the asks of devices for packages (PackageAsks), which outlive the shell that they
// are handed to: the workers may rest, or be replaced, while somebody waits.
//
//   Add        the ask waits for a shell
//   HandOver   the shell has the ask; if the shell ends first, the ask waits for the next one
//   Abort      tells all asks that wait for a shell why there is none
//   AskAhead   hands an ask ahead of need to a shell at once; it ends with that shell
//
// Cost: O(log n) for each ask; n <= PackageAsks::kAskersMax.
// Threads: any. No callback runs under the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "director/shell/director_shell.h"
#include "director/shell/package_asks.h"

namespace galley::director {

// Always held by shared_ptr, because a shell may tell an outcome when the director has let go.
class PendingAsks : public std::enable_shared_from_this<PendingAsks> {
 public:
  // An ask whose shells end so often is aborted.
  static constexpr uint32_t kShellsMax = 3;

  // Returns the number of the ask. `callback`: as in PackageAsks::Ask; also on the threads of
  // HandOver, Abort and End. UNAVAILABLE: End was called. RESOURCE_EXHAUSTED: too many wait.
  absl::StatusOr<uint64_t> Add(std::string package, std::string platform,
                               PackageAsks::Callback callback);
  // Works like PackageAsks::Withdraw. False: the outcome is told, or was told.
  bool Withdraw(uint64_t number);

  // Hands the ask to the shell, if the ask waits for one.
  void HandOver(const std::shared_ptr<DirectorShell>& shell, uint64_t number);
  // Asks this shell ahead of need (PackageAsks::AskAhead), and returns the number of the ask. No
  // other shell gets the ask: when this one ends, the outcome is AskAborted. Errors: as of Add, or
  // of the shell; then the callback is not called.
  absl::StatusOr<uint64_t> AskAhead(const std::shared_ptr<DirectorShell>& shell,
                                    std::string package, std::string platform,
                                    PackageAsks::Callback callback);
  // Hands all asks that wait for a shell to this one.
  void HandOverAll(const std::shared_ptr<DirectorShell>& shell);
  void Abort(const std::string& reason);
  // Aborts all asks; none can be added any more.
  void End(const std::string& reason);

  // True: some ask waits for a shell.
  bool HasWaiting() const;
  // True: nobody asks, except ahead of need.
  bool empty() const;

 private:
  struct Pending {
    std::string package;
    std::string platform;
    PackageAsks::Callback callback;
    bool is_ahead = false;
    bool waits = true;                        // for a shell
    std::weak_ptr<DirectorShell> shell = {};  // unless it waits
    uint64_t in_shell = 0;                    // the number of the ask there
    uint32_t shells = 0;                      // to which it was handed
  };

  absl::Status CheckRoom() const GALLEY_REQUIRES(mutex_);
  void Tell(uint64_t number, const AskOutcome& outcome);
  std::vector<uint64_t> Waiting() const;
  std::optional<Pending> Take(uint64_t number);

  mutable base::Mutex mutex_;
  std::map<uint64_t, Pending> asks_ GALLEY_GUARDED_BY(mutex_);
  uint64_t last_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool has_ended_ GALLEY_GUARDED_BY(mutex_) = false;
};

}  // namespace galley::director
