// WorldSuccession: makes the next World when files changed: under a cook that met a changed file,
// or between cooks, by a new scan. The journal first learns what is no longer trusted, and the
// table of the snapshot is written; so every record of the journal was made in the snapshot that is
// its base.
//
// Threads: that of the commits, in order with the commits; AskForNew: any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/active_cook.h"
#include "director/shell/active_cooks.h"
#include "director/shell/world.h"

namespace galley::director {

// Successor: a World that is to be the present World, with what the core is to learn of it.
struct Successor {
  WorldPtr world;
  FilesChanged event;
  bool has_new = false;      // files, or other rules: cooks may ask for more
  std::set<uint64_t> asked;  // cooks that were asked, for event.discovered
};

class WorldSuccession {
 public:
  struct Options {
    uint32_t term = 0;
    std::string state_directory;
    std::function<absl::Status()> may_write;  // as in ShellOptions
  };
  // Everything in Deps outlives WorldSuccession.
  struct Deps {
    store::Store& store;
    Journal& journal;
    const ActiveCooks& cooks;
  };

  WorldSuccession(Options options, Deps deps, WorldPtr first);

  // The World that was made last, whose snapshot is the base of differences. The loop follows when
  // it takes the successor.
  const WorldPtr& last() const { return last_; }

  // Makes a successor of files that a cook met and that have changed. Errors: the machine's fault.
  absl::StatusOr<Successor> OfPaths(const std::vector<std::string>& paths);
  // Makes a successor of all files, as a new scan found them, and of losses of the store since. The
  // successor's world is last() if nothing differs. Errors: the machine's fault.
  absl::StatusOr<Successor> OfScan(std::shared_ptr<World> scanned);

  // Asks the running cooks, each once, which of the new files they ask for.
  void AskForNew(Successor& successor) const;

  // Writes down the state from which the next director starts: the snapshot's table and the digest
  // cache.
  absl::Status Remember() const;

 private:
  absl::Status Establish(World& world, std::vector<std::string>& affected, JournalMeta meta);

  const Options options_;
  const Deps deps_;
  WorldPtr last_;
  uint64_t worlds_made_;  // number of the last world
};

}  // namespace galley::director
