// WorldSuccession: how one World follows another when files changed: under a cook that met such a
// file, or between cooks, by a new scan. Of each successor the journal learns first what is not
// trusted any more, and the table of its snapshot is written; so every record of the journal was
// made in the snapshot that is its base.
//
// Threads: that of the commits, in order with them; AskForNew: any.
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

// A World that is to be the present one, with what the core is to learn of it.
struct Successor {
  WorldPtr world;
  FilesChanged event;
  bool has_new = false;      // files, or other rules: cooks may ask for more
  std::set<uint64_t> asked;  // cooks that were, for event.discovered
};

class WorldSuccession {
 public:
  struct Options {
    uint32_t term = 0;
    std::string state_directory;
    std::function<absl::Status()> may_write;  // as ShellOptions says
  };
  // All outlive it.
  struct Deps {
    store::Store& store;
    Journal& journal;
    const ActiveCooks& cooks;
  };

  WorldSuccession(Options options, Deps deps, WorldPtr first);

  // The last World that was made, whose snapshot is the base of differences. (The loop follows when
  // it takes the successor.)
  const WorldPtr& last() const { return last_; }

  // Files that a cook met which are others now. Errors: the machine's fault.
  absl::StatusOr<Successor> OfPaths(const std::vector<std::string>& paths);
  // All files, as a new scan found them; and what the store lost since. Its world is last() if
  // nothing differs. Errors likewise.
  absl::StatusOr<Successor> OfScan(std::shared_ptr<World> scanned);

  // The cooks that run are asked what they ask for among the new files, each once.
  void AskForNew(Successor& successor) const;

  // Writes down from what the next director starts: the snapshot's table and the digest cache.
  absl::Status Remember() const;

 private:
  absl::Status Establish(World& world, std::vector<std::string>& affected, JournalMeta meta);

  const Options options_;
  const Deps deps_;
  WorldPtr last_;
  uint64_t worlds_made_;  // the last one's number
};

}  // namespace galley::director
