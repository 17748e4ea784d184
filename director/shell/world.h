// World: what one cook stands on at a moment: project, snapshot, packages. Immutable but for
// digests learned; a changed file makes the next World. Everyone holds it by shared_ptr.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/project/project.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

// What differs between the files of a snapshot table and those of a world.
struct ChangesSince {
  std::string table_id;
  std::vector<content::Change> changes;
  std::vector<std::string> touched;  // files that have other stamps, and the bytes of before
  // All are files that were there, and could be read then and now: whatever a scan tells is the
  // same. (False: nobody knows.)
  bool is_of_bytes = false;
};

struct World {
  uint64_t number = 1;
  SnapshotPtr snapshot;
  std::shared_ptr<const project::Project> project;
  std::shared_ptr<const ProjectCatalog> table;
  ProjectCatalog::Options table_options;  // of `table`
  std::string table_file;                 // absolute path of the snapshot's table, for workers
  std::string table_id;                   // that table's Snapshot::identity
  std::optional<ChangesSince> since;      // if somebody found out
  std::map<std::string, std::string> environment;  // the director's own; what env(...) observes
};
using WorldPtr = std::shared_ptr<const World>;

// The present World, replaced by the shell when a file changed.
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
