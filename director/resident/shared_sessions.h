// SharedSessions: what the threads that call a DeviceService share: the present world and the older
// ones that are held, and the sessions of devices.
//
// The turns of the service change worlds and trees; a call of a device renews its session, and
// reads the rest. Nobody may tell a device a root that FlushLeases has not leased.
//
// Threads: any; FlushLeases: one at a time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "director/devices/device_sessions.h"
#include "director/resident/leased_roots.h"
#include "director/resident/shown_world.h"

namespace galley::director {

// Why a session cannot be looked for yet, for people.
inline constexpr std::string_view kSessionsAreRestored =
    "the sessions of the director before are being found";

class SharedSessions {
 public:
  // `store` outlives this object.
  SharedSessions(devices::DeviceSessionsOptions options, store::Store& store)
      : project_(options.project),
        worlds_max_(options.worlds_max),
        store_(store),
        sessions_(std::move(options)) {}

  const std::string& project() const { return project_; }
  // The world that was begun last; nullptr: none was.
  ShownWorldPtr present() const;
  // Why the present world is not ready; empty: it is.
  std::string why_not() const;
  void SetWhyNot(std::string why);
  // The number of the oldest world that is held; 0: none is.
  uint64_t oldest() const;

  // DeviceSessions::BeginWorld and SetNewest.
  void BeginWorld(ShownWorldPtr shown, absl::Time now);
  // The present world has another World, of the same files: somebody touched one. REQUIRES: the
  // number is the present one.
  void ReplacePresent(const ShownWorldPtr& shown);
  void SetNewest(const ShownWorldPtr& shown, devices::DeviceViewPtr view,
                 std::optional<devices::WorldChange> changed, absl::Time now);

  // Lets a tree of the present world go. REQUIRES: its audience has no sessions.
  void DropTree(const devices::Audience& audience, const Digest& world_digest);

  struct Seen {
    // With the last roots that are leased, its own and the newest one, in place of later ones.
    devices::SessionView session;
    bool is_settling = false;       // the session's view is of a root that is not leased yet
    ShownWorldPtr shown;            // the session's world; nullptr: it is not held
    devices::DeviceViewPtr newest;  // of the session's tree; nullptr: it is not held
  };
  // DeviceSessions::Renew. UNAVAILABLE: BeginRestore.
  absl::StatusOr<Seen> Renew(const std::string& id, absl::Time now);
  // DeviceSessions::BeginStream. UNAVAILABLE: BeginRestore.
  absl::Status BeginStream(const std::string& id, absl::Time now);
  // The session has read these packages.
  void NoteRead(const std::string& id, const std::vector<std::string>& packages);
  // The packages among `changed` that a session of the audience has read.
  std::vector<std::string> ReadAmong(const devices::Audience& audience,
                                     const std::vector<std::string>& changed) const;

  // Every package that a session of the audience has read, in the order of their first reads, at
  // most `packages_max`.
  std::vector<std::string> AllRead(const devices::Audience& audience, size_t packages_max) const;

  // LastGood: a file of an older world of the audience.
  struct LastGood {
    devices::CookedFile file;
    Digest root;  // that has the file, and is leased
  };
  // The newest one of the held worlds before the present one; nullopt: none has it.
  std::optional<LastGood> FindLastGood(const devices::Audience& audience,
                                       const std::string& package, const std::string& suffix) const;

  // DeviceSessions::EventsSince. None, while roots that they name are not leased (TakeMissed).
  absl::StatusOr<std::vector<devices::ChangeEventPtr>> EventsSince(
      const std::string& id, const std::optional<devices::EventId>& after);
  // True: the store has a lease of this root. It keeps the root at least until the next
  // FlushLeases, which takes and releases leases at once.
  bool IsLeased(const Digest& root) const;
  // True: since the last call, a stream asked for events that could not be told.
  bool TakeMissed();
  // The sessions of an earlier director are being found: until EndRestore, a session that is not
  // there may still come, and Renew and BeginStream are UNAVAILABLE where they would be NOT_FOUND.
  void BeginRestore();
  // Every session that can be found is open again. `leases`: DeviceSessions::NoteHeldLeases.
  void EndRestore(std::vector<store::RootLease> leases);

  // Calls `act` with the sessions, under the lock.
  template <typename Act>
  auto With(const Act& act) {
    base::MutexLock lock(mutex_);
    return act(sessions_);
  }

  // Tells the store the leases that changed. Blocks. After an error all changes are tried again by
  // the next call. REQUIRES: SetNewest is not called meanwhile.
  absl::Status FlushLeases();

 private:
  ShownWorldPtr ShownOf(const Digest& world_digest) const GALLEY_REQUIRES(mutex_);
  absl::Status NotThere(const absl::Status& absent) const GALLEY_REQUIRES(mutex_);
  void TellLeasedRoots(Seen& seen) GALLEY_REQUIRES(mutex_);

  const std::string project_;
  const size_t worlds_max_;
  store::Store& store_;
  mutable base::Mutex mutex_;
  devices::DeviceSessions sessions_ GALLEY_GUARDED_BY(mutex_);
  std::deque<ShownWorldPtr> held_ GALLEY_GUARDED_BY(mutex_);  // oldest first
  std::string why_not_ GALLEY_GUARDED_BY(mutex_) = "the files of the project are looked at";
  // The worlds of trees, by digest of the file `world`.
  std::map<Digest, ShownWorldPtr> shown_ GALLEY_GUARDED_BY(mutex_);
  LeasedRoots leased_ GALLEY_GUARDED_BY(mutex_);
  bool has_unleased_ GALLEY_GUARDED_BY(mutex_) = false;  // a view came since the last flush
  bool is_missed_ GALLEY_GUARDED_BY(mutex_) = false;
  bool is_restoring_ GALLEY_GUARDED_BY(mutex_) = false;
  // Ids of the packages that sessions have read, for DeviceSessions.
  absl::flat_hash_map<std::string, PackageId> ids_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::string> names_ GALLEY_GUARDED_BY(mutex_);  // by id
};

}  // namespace galley::director
