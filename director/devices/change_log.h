// ChangeLog: the numbered events of one platform and set of cultures, for `changes`.
//
// The sessions of the platform and cultures are all told the same events, so that a thousand idle
// streams cost one list. A stream remembers the number that it told last. The list is a bounded
// ring; whoever asks for events that left it, or of an earlier director, gets one snapshot.
//
// Stale packages are told at once when a world begins, and their outcome with the growth that has
// it. A failure is told when nothing new was heard of the package for kQuiet, and its healing too,
// so that a failure that is mended while somebody saves a file twice is never told.
//
// A change of very many files at once is one event that is cut (WorldChange::is_cut). Packages that
// were stale or failed before it are forgotten, since nobody knows whether they still are.
//
// Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "director/devices/change_event.h"
#include "director/devices/device_tree.h"
#include "director/devices/node_path.h"
#include "director/devices/world_change.h"

namespace galley::devices {

struct ChangeLogOptions {
  uint32_t term = 0;             // the director's
  size_t events_max = 1024;      // in the ring
  size_t entries_max = 100'000;  // named by all events of the ring; a larger event is a snapshot
  size_t listed_max = 10'000;    // stale paths, and failures, of a snapshot
  size_t event_max = 10'000;     // entries of an event; a larger one is cut
};

class ChangeLog {
 public:
  static constexpr absl::Duration kQuiet = absl::Milliseconds(200);

  // Numbers go on behind `last_number`.
  explicit ChangeLog(const ChangeLogOptions& options, uint64_t last_number = 0)
      : options_(options), last_number_(last_number) {}

  // A newer world began. `view`: its first view. `changed`: how it differs from the world before,
  // or, where several worlds began since, from the world of the last NoteWorld.
  void NoteWorld(uint64_t world, WorldChange changed, const DeviceView& view, absl::Time now);
  // The newest world's tree has grown.
  void NoteGrowth(const DeviceView& view, absl::Time now);
  // The package fails in the newest world. It is healed by a view that has its node, by a world
  // that no longer shows it, and by NoteHealed.
  void NoteFailed(PackageFailure failure, absl::Time now);
  void NoteHealed(const std::string& package, absl::Time now);
  // Told at once.
  void NoteConflict(PathConflict conflict);

  // Tells the failures and healings that are due.
  void Tick(absl::Time now);
  // When Tick is next needed.
  absl::Time ticks_at() const;

  // The id of the last event, or of the last before this log.
  EventId last() const { return {.term = options_.term, .number = last_number_}; }
  // The events behind `after`, in order. One snapshot: some of them left the ring, or the id is of
  // another term or was never given.
  std::vector<ChangeEventPtr> Since(const EventId& after) const;
  // The failures that were told and not healed, sorted by NodeKey.
  std::vector<PackageFailure> Failures() const;

 private:
  struct FailureState {
    std::optional<PackageFailure> told;
    std::optional<PackageFailure> now;
    absl::Time due = absl::InfiniteFuture();  // when `now` is told, if it differs from `told`
  };

  ChangeEvent NewEvent() const;
  void Tell(ChangeEvent event);
  ChangeEventPtr Snapshot() const;
  // Corrects a change by the stale packages of the older worlds, whose last outputs are older.
  void CarryOver(WorldChange& changed);
  // The newer world may differ in anything.
  void ForgetOlder(absl::Time now);
  // Ends the staleness of packages that the view has; their outcome is added to `event`.
  void Settle(const NodeKey& key, const DeviceView& view, absl::Time now, ChangeEvent& event);
  void SetFailure(const NodeKey& key, std::optional<PackageFailure> now_is, absl::Time now);

  const ChangeLogOptions options_;
  uint64_t last_number_ = 0;
  uint64_t world_ = 0;
  Digest root_;
  size_t entries_ = 0;                 // of events_
  std::deque<ChangeEventPtr> events_;  // numbers ascend without gaps, up to last_number_
  std::map<NodeKey, StalePackage> stale_;
  std::map<NodeKey, FailureState> failures_;
  std::set<std::pair<absl::Time, NodeKey>> due_;  // of failures_ with a finite `due`
};

}  // namespace galley::devices
