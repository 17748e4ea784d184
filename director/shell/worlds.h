// Worlds: the present World of a director, and how the next World takes its place
// (WorldSuccession): workers, cooks and the core go over to the next World in one turn of the loop.
//
// Threads: the loop's, unless a function says otherwise.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/store/interface/store.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/core/packages/platforms.h"
#include "director/journal/journal.h"
#include "director/shell/active_cooks.h"
#include "director/shell/commits.h"
#include "director/shell/inbox.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/tasks.h"
#include "director/shell/tool_digests.h"
#include "director/shell/world.h"
#include "director/shell/world_succession.h"

namespace galley::director {

class Worlds {
 public:
  // Everything in Deps outlives Worlds.
  struct Deps {
    store::Store& store;
    Journal& journal;
    Clock& clock;
    Tasks& tasks;  // run in order with the commits
    Inbox& inbox;
    ActiveCooks& cooks;
    Commits& commits;
    // Tells the attached workers of the world.
    std::function<void(const World& world)> announce;
    // Moves the cooks to the platforms of the world. Returns what the cooks are to cook as well.
    std::function<std::vector<PlatformsChanged::Added>(const World& world, const PlatformMap& map)>
        adopt_platforms;
  };
  Worlds(WorldSuccession::Options options, const Deps& deps, WorldPtr first);

  // The present world. Any thread.
  const WorldHolder& present() const { return present_; }
  WorldPtr Get() const { return present_.Get(); }
  SourcesPtr Sources() const;

  void Rescan(const director::Rescan& effect);
  // Makes the files that a new scan found the present world. Waits; returns the world that is
  // present then. Errors: the machine's fault; the world stays the same. Any thread but the loop's.
  absl::StatusOr<WorldPtr> Follow(std::shared_ptr<World> scanned);

  // Says whether the result holds in the present world, as far as that is known without much
  // hashing.
  bool HoldsQuickly(const StoredResult& stored) const;
  // Returns what says whether a result holds in the world that is the base of the journal's
  // differences; the returned function hashes what it must. On the thread of the commits.
  std::function<bool(const StoredResult&)> HoldsInLast() const;

  // Writes down the state from which the next director starts: snapshot, digests, the store's
  // state; waits. Any thread but the loop's.
  absl::Status Remember();
  // Stops hashing files where somebody waits for them. Any thread.
  void Cancel() { stopping_.Cancel(); }

 private:
  void TakeSuccessor(Successor successor);
  void TakePlatforms(const World& before, const World& world, FilesChanged files);
  absl::Status WriteDown();

  const WorldSuccession::Options options_;
  const Deps deps_;
  WorldHolder present_;
  mutable Cancellation stopping_;
  mutable ToolDigests tools_;
  WorldSuccession succession_;  // belongs to the thread of the commits
};

}  // namespace galley::director
