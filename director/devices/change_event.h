// ChangeEvent: a change that the sessions of a platform and set of cultures are told, and the
// events' numbers.
//
// Threads: none. Events are immutable and may be read from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "director/devices/world_change.h"

namespace galley::devices {

// The id of an event on the wire, "<term>-<n>". The term is that of the director that told it, so
// that numbers of two directors are never taken for one another.
struct EventId {
  uint32_t term = 0;
  uint64_t number = 0;
  auto operator<=>(const EventId&) const = default;
};
std::string TextOf(const EventId& id);
// nullopt: TextOf writes no such text.
std::optional<EventId> ParseEventId(std::string_view text);

struct PackageFailure {
  std::string package;  // virtual path
  std::string error;
  std::string log;  // digest text, or empty
  bool operator==(const PackageFailure&) const = default;
};

// Two packages that turned out to have one path: both fail. What was answered before stays.
struct PathConflict {
  std::string path;
  std::vector<std::string> packages;  // sorted
  bool operator==(const PathConflict&) const = default;
};

struct ChangeEvent {
  EventId id;
  uint64_t world = 0;  // the newest world's number
  Digest root;         // the newest root; of no bytes: there is none yet
  // A snapshot stands for all events up to `id`. It has the failures and stale paths of now, and no
  // lists of changed paths: the client compares its root with `root`.
  bool is_snapshot = false;
  // There is more than is listed: whoever keeps files compares its root with `root`.
  bool is_cut = false;
  std::vector<ChangedPath> added, modified, removed;  // sorted by path
  std::vector<std::string> stale;                     // paths, sorted
  std::vector<PackageFailure> failures;               // sorted by package
  std::vector<std::string> healed;                    // packages that failed no longer; sorted
  std::vector<PathConflict> conflicts;

  // How much the event is: paths and packages that it names.
  size_t entries() const;
  bool operator==(const ChangeEvent&) const = default;
};
using ChangeEventPtr = std::shared_ptr<const ChangeEvent>;

}  // namespace galley::devices
