// WorldSuccession: makes the next World when files have changed: because a cook met a changed file,
// or because a new scan found changes. First the table of the snapshot is written, and the journal
// distrusts the affected records, so every trusted record holds in the journal's base snapshot.
//
// Threads: the commit thread, in order with the commits; AskForNew: any.
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

// Successor: the next World, with the event for the core.
struct Successor {
  WorldPtr world;
  FilesChanged event;
  bool has_new = false;      // there are new files or other rules: cooks may select more packages
  std::set<uint64_t> asked;  // cooks whose new packages are in event.discovered
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

  // The World that was made last, whose snapshot is the base of differences. It becomes the present
  // World when the loop takes the successor.
  const WorldPtr& last() const { return last_; }

  // Makes the successor after changes of these files, which a cook met. Errors: the machine's
  // fault.
  absl::StatusOr<Successor> OfPaths(const std::vector<std::string>& paths);
  // Makes the successor after a new scan of all files, and after losses of the store. Its world is
  // last() if nothing differs. Errors: the machine's fault.
  absl::StatusOr<Successor> OfScan(std::shared_ptr<World> scanned);

  // Adds the packages that running cooks select in the new World to the event, once for each cook.
  void AskForNew(Successor& successor) const;

  // Writes the state from which the next director starts: the snapshot's table and the digest
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
