// World: the state of the project that one cook stands on at a moment: project, snapshot, packages.
// Immutable except for digests learned; a changed file makes the next World. Everyone holds a World
// by shared_ptr.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/content/changes.h"
#include "common/project/project.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

// ChangesSince: the difference between the files of a snapshot table and the files of a world.
struct ChangesSince {
  std::string table_id;
  std::vector<content::Change> changes;
  std::vector<std::string> touched;  // files with new stamps and the same bytes
  // True: all are files that existed, and could be read then and now, so that a scan tells the same
  // as before. False: nobody knows.
  bool is_of_bytes = false;
};

struct World {
  uint64_t number = 1;
  SnapshotPtr snapshot;
  std::shared_ptr<const project::Project> project;
  std::shared_ptr<const ProjectCatalog> table;
  ProjectCatalog::Options table_options;  // of `table`
  std::string table_file;                 // absolute path of the snapshot's table, for workers
  std::string table_id;                   // Snapshot::identity of that table
  std::optional<ChangesSince> since;      // set if somebody found out
  std::map<std::string, std::string> environment;  // the director's own; env(...) observes it
};
using WorldPtr = std::shared_ptr<const World>;

// WorldHolder: holds the present World, which the shell replaces when a file changed.
class WorldHolder {
 public:
  explicit WorldHolder(WorldPtr world) : world_(std::move(world)) {}
  WorldPtr Get() const {
    base::MutexLock lock(mutex_);
    return world_;
  }
  void Set(WorldPtr world) {
    base::MutexLock lock(mutex_);
    world_ = std::move(world);
  }

 private:
  mutable base::Mutex mutex_;
  WorldPtr world_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
