// World: one state of the project: project file, snapshot, packages. Immutable, except that the
// snapshot learns digests; a changed file makes a new World. Always held by shared_ptr.
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
  // True: every changed file existed and could be read before and now, so a scan would tell the
  // same messages. False: unknown.
  bool is_of_bytes = false;
};

struct World {
  uint64_t number = 1;
  SnapshotPtr snapshot;
  std::shared_ptr<const project::Project> project;
  std::shared_ptr<const ProjectCatalog> table;
  std::string table_file;             // absolute path of the snapshot's table, for workers
  std::string table_id;               // Snapshot::identity of the table
  std::optional<ChangesSince> since;  // nullopt: the changes are not known
  std::map<std::string, std::string> environment;  // AnsweredVariables, for env(...)
};
using WorldPtr = std::shared_ptr<const World>;

// WorldHolder: holds the present World, which the shell replaces when a file has changed.
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
