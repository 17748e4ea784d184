// Worlds: the present World of a director, and how the next one takes its place (WorldSuccession):
// workers, cooks and the core go over to it in one turn of the loop.
//
// Threads: the loop's, but where a function says otherwise.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/store/interface/store.h"
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
  // All outlive it.
  struct Deps {
    store::Store& store;
    Journal& journal;
    Clock& clock;
    Tasks& tasks;  // of the commits
    Inbox& inbox;
    ActiveCooks& cooks;
    Commits& commits;
    // The workers that are attached learn of the world.
    std::function<void(const World& world)> announce;
    // The cooks go over to the platforms of the world. Returns what they are to cook as well.
    std::function<std::vector<PlatformsChanged::Added>(const World& world, const PlatformMap& map)>
        adopt_platforms;
  };
  Worlds(WorldSuccession::Options options, const Deps& deps, WorldPtr first);

  // The present world. Any thread.
  const WorldHolder& present() const { return present_; }
  WorldPtr Get() const { return present_.Get(); }
  SourcesPtr Sources() const;

  void Rescan(const director::Rescan& effect);
  // Makes the files as a new scan found them the present world. Waits; returns the world that is
  // present then. Errors: the machine's fault; the world is as it was. Any thread but the loop's.
  absl::StatusOr<WorldPtr> Follow(std::shared_ptr<World> scanned);

  // Whether the result holds in the present world, as far as that is known without hashing much.
  bool HoldsQuickly(const StoredResult& stored) const;
  // Says whether a result holds in the world that is the base of the journal's differences; hashes
  // what it must. On the thread of the commits.
  std::function<bool(const StoredResult&)> HoldsInLast() const;

  // Writes down from what the next director starts: snapshot, digests, the store's state; waits.
  // Any thread but the loop's.
  absl::Status Remember();
  // Files that are hashed where somebody waits for them are left. Any thread.
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
  WorldSuccession succession_;  // of the thread of the commits
};

}  // namespace galley::director
