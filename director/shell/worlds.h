// Worlds: holds the present World of a director, and replaces it by the next World
// (WorldSuccession): workers, cooks and the core get the next World in one turn of the loop.
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
#include "director/shell/kept_sources.h"
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
    // Sends the world to the attached workers.
    std::function<void(const World& world)> announce;
    // Moves the cooks to the platforms of the world. Returns the platforms that were added to
    // cooks.
    std::function<std::vector<PlatformsChanged::Added>(const World& world, const PlatformMap& map)>
        adopt_platforms;
    KeptSources* kept_sources = nullptr;  // null: sources are not kept
  };
  Worlds(WorldSuccession::Options options, const Deps& deps, WorldPtr first);

  // The present world. Any thread.
  const WorldHolder& present() const { return present_; }
  WorldPtr Get() const { return present_.Get(); }
  // The world that the core knows: while the loop takes a successor, the world before it.
  const WorldPtr& of_core() const { return of_core_; }
  SourcesPtr Sources() const;

  void Rescan(const director::Rescan& effect);
  // See DirectorShell::Follow. Any thread but the loop's.
  absl::StatusOr<WorldPtr> Follow(std::shared_ptr<World> scanned);

  // Says whether the result holds in the present world (FilesHoldQuickly).
  bool HoldsQuickly(const StoredResult& stored) const;
  // Returns a function that says whether a result holds in the world that is the base of the
  // journal's differences; it may hash large files. Commit thread.
  std::function<bool(const StoredResult&)> HoldsInLast() const;

  // See DirectorShell::Remember. Any thread but the loop's.
  absl::Status Remember();
  // Stops hashing files for HoldsQuickly and HoldsInLast. Any thread.
  void Cancel() { stopping_.Cancel(); }

 private:
  void TakeSuccessor(Successor successor);
  void TakePlatforms(const World& before, const WorldPtr& present, FilesChanged files);
  absl::Status WriteDown();

  const WorldSuccession::Options options_;
  const Deps deps_;
  WorldHolder present_;
  WorldPtr of_core_;
  mutable Cancellation stopping_;
  mutable ToolDigests tools_;
  WorldSuccession succession_;  // belongs to the thread of the commits
};

}  // namespace galley::director
