// DeviceSessions: which worlds devices can see, who looks at which root, what they are told, and
// which roots the store must keep for them.
//
//   world   ... 4   5   6 (present)      a world begins with each change of the project
//   tree        t4  t5  t6               of each, for a platform and cultures (DeviceTree)
//   session     a   b   c                each at one growth of one tree
//
// A session sees one root of its tree. An answer from a newer growth of the same tree takes the
// session there (Advance); a newer world never does: it is a new session (*succession*). At most
// worlds_max worlds are held. A session whose tree is not held is *frozen*: the caller serves what
// its root or the action cache has, and answers all else with the newest root.
//
// A session ends silence_max after its last request, and not while a stream of it is open. After a
// restart the caller opens the sessions of all leases again (ParseLeaseName), each at its leased
// root with the world in that root; where the present world is the same they go on, otherwise they
// are frozen until their world comes again. Before the first SetNewest of a world the caller has
// the tree take the nodes of its leased roots (ReadNodes), so that no session loses what it saw.
//
// The caller tells nobody of a root before the store has its blobs and took the lease changes.
//
// Cost: O(log n) a request. Threads: none; time is an argument, and never goes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "director/core/ids.h"
#include "director/devices/change_event.h"
#include "director/devices/change_log.h"
#include "director/devices/device_tree.h"
#include "director/devices/device_world.h"
#include "director/devices/read_packages.h"
#include "director/devices/wanted_leases.h"
#include "director/devices/world_change.h"

namespace galley::devices {

// The audience of events: the sessions of a platform with the same cultures.
struct Audience {
  std::string platform;
  std::vector<std::string> cultures;  // sorted, each once
  auto operator<=>(const Audience&) const = default;
};

// kPresent: the session's world is the newest. kHeld: it is older, and its DeviceTree is held.
// kFrozen: it is not held.
enum class SessionStanding { kPresent, kHeld, kFrozen };

struct OpenSession {
  // A root in the store, and the world that its file `world` names.
  struct At {
    Digest root;
    DeviceWorld world;
  };
  std::string id;  // IsSessionId; the caller makes it at random
  Audience audience;
  std::optional<At> at;  // nullopt: at the newest root
  bool takes_last_good = false;
  // The session that this one follows in a newer world: what that one has read, this one has, too.
  // Empty, or ended: none.
  std::string succeeds;
};

struct SessionView {
  std::string id;
  Audience audience;
  Digest root;         // the session's
  DeviceViewPtr view;  // of `root`; nullptr: only the tree in the store tells what the root has
  Digest world_digest;
  SessionStanding standing = SessionStanding::kFrozen;
  Digest newest_root;  // of the audience's newest world; of no bytes: there is none yet
  uint64_t newest_world = 0;
  EventId last_event;  // events behind this one are news to the session
  bool takes_last_good = false;
};

struct DeviceSessionsOptions {
  std::string project;  // the project's id
  ChangeLogOptions changes;
  absl::Duration silence_max = absl::Minutes(10);
  size_t worlds_max = 16;
  size_t sessions_max = 10'000;
  size_t reads_max = 16'384;  // packages that are remembered of a session
};

class DeviceSessions {
 public:
  explicit DeviceSessions(DeviceSessionsOptions options) : options_(std::move(options)) {}

  // World `world` is the present one from now on. Worlds beyond worlds_max are let go with their
  // trees, oldest first. REQUIRES: greater than each before.
  void BeginWorld(uint64_t world, absl::Time now);
  // The newest view of a tree of a held world. `changed`: how the world differs from the last one
  // of which this audience was told; with the first view of a tree of the present world, else
  // nullopt.
  // An older world that comes again, as an edit that is undone, goes on with the tree that it had.
  // REQUIRES: `world` is held; the view is newer than the tree's last, or the world is.
  void SetNewest(DeviceViewPtr view, uint64_t world, std::optional<WorldChange> changed,
                 absl::Time now);
  // The newest view of the tree with this file `world`; nullptr: it is not held.
  DeviceViewPtr NewestOf(const Digest& world_digest) const;
  // Lets the tree with this file `world` go, and its lease; ignored if none is held. REQUIRES: its
  // audience has no sessions.
  void LetGo(const Digest& world_digest);
  // The audiences that have sessions, and need a tree when a world begins; sorted.
  std::vector<Audience> Audiences() const;

  // UNAVAILABLE: the audience has no tree in the present world yet. INVALID_ARGUMENT: the id, or a
  // root of another project or audience. ALREADY_EXISTS: the id. RESOURCE_EXHAUSTED: sessions_max.
  absl::StatusOr<SessionView> Open(const OpenSession& request, absl::Time now);
  // A request of the session. NOT_FOUND: it ended, or never was.
  absl::StatusOr<SessionView> Renew(const std::string& id, absl::Time now);
  // A session that is not there is ignored.
  void Close(const std::string& id);
  // A stream of `changes`. NOT_FOUND as Renew; EndStream ignores a session that is not there.
  absl::Status BeginStream(const std::string& id, absl::Time now);
  void EndStream(const std::string& id, absl::Time now);
  // An answer to the session came from this view, which becomes the session's if it is newer.
  // A session whose tree was let go stays where it is. NOT_FOUND as Renew. REQUIRES: a view of the
  // session's own world.
  absl::Status Advance(const std::string& id, const DeviceViewPtr& view, absl::Time now);

  // The session has read the package.
  void NoteRead(const std::string& id, director::PackageId package);
  // The `changed` packages that a session of the audience has read, in the order given: these are
  // cooked at an edit.
  std::vector<director::PackageId> ReadAmong(const Audience& audience,
                                             std::span<const director::PackageId> changed) const;

  // Failures in the present world (ChangeLog), told to each audience of the platform.
  void NoteFailed(const std::string& platform, const PackageFailure& failure, absl::Time now);
  void NoteHealed(const std::string& platform, const std::string& package, absl::Time now);
  void NoteConflict(const std::string& platform, const PathConflict& conflict);
  // The events behind `after`, or behind the one that Open told. NOT_FOUND as Renew.
  absl::StatusOr<std::vector<ChangeEventPtr>> EventsSince(const std::string& id,
                                                          std::optional<EventId> after) const;
  // The sessions with open streams that have events since the last call, sorted.
  std::vector<std::string> TakeWoken();

  // Ends silent sessions, tells failures that are due, renews leases. Returns the ended sessions.
  std::vector<std::string> Tick(absl::Time now);
  absl::Time ticks_at() const;

  // Leases of this project that the store has from an earlier director. Call TakeLeaseChanges only
  // when their sessions were opened again.
  void NoteHeldLeases(std::vector<store::RootLease> leases) { leases_.NoteHeld(std::move(leases)); }
  store::LeaseChanges TakeLeaseChanges() { return leases_.TakeChanges(); }
  void NoteLeasesLost(const store::LeaseChanges& changes) { leases_.NoteLost(changes); }

  size_t size() const { return sessions_.size(); }

 private:
  static constexpr absl::Duration kBetweenRenewals = absl::Minutes(1);

  struct Tree {
    uint64_t world = 0;
    DeviceViewPtr newest;
  };
  struct Session {
    Audience audience;
    Digest world_digest;
    Digest root;
    DeviceViewPtr view;
    EventId last_event;
    bool takes_last_good = false;
    bool is_left_behind = false;  // its tree was held, and was let go: frozen for good
    uint32_t streams = 0;
    absl::Time ends = absl::InfiniteFuture();  // while no stream is open
    RecentPackages reads;
  };
  struct Channel {  // of an audience
    ChangeLog log;
    Digest newest_tree;  // of no bytes: none
    std::set<std::string> sessions;
    std::set<std::string> streaming;
    PackageCounts reads;
    EventId woken;  // up to which streams were woken
  };
  using Sessions = std::map<std::string, Session>;

  Channel& ChannelOf(const Audience& audience);
  absl::StatusOr<Session*> SessionOf(const std::string& id);
  absl::Status CheckOpen(const OpenSession& request) const;
  SessionStanding StandingOf(const Session& session) const;
  SessionView ViewOf(const std::string& id, const Session& session) const;
  void NoteRequest(const std::string& id, Session& session, absl::Time now);
  void LeaseRootOf(const std::string& id, const Session& session, absl::Time now);
  void End(Sessions::iterator at);
  void DropTree(std::map<Digest, Tree>::iterator at);
  void DropIdleChannels();
  void RenewLeases(absl::Time now);

  const DeviceSessionsOptions options_;
  std::deque<uint64_t> worlds_;   // held, oldest first; the last is the present one
  std::map<Digest, Tree> trees_;  // of held worlds, by digest of the file `world`
  std::map<Audience, Channel> channels_;
  Sessions sessions_;
  std::set<std::pair<absl::Time, std::string>> ends_;  // of sessions without streams
  WantedLeases leases_;
  absl::Time renewed_ = absl::InfinitePast();  // RenewLeases
  uint64_t last_number_ = 0;                   // of events of channels that are gone
};

}  // namespace galley::devices
