// ProjectHome: the project's id and its last place, twice in the state folder: in the files
// `project` and `project.copy` (sealed text, docs/formats.md). Each change has a higher number; the
// file with the higher number holds, so that an older file which was put back is found out. The
// journal keeps the id as well.
//
// A project folder may be copied together with its state. Two folders with one id would publish
// into one history, so the copy gets an id of its own. A folder is a copy only when its state
// records another folder that still holds the same id; a folder that was moved, restored from a
// backup or taken from a cache of CI keeps its id.
//
// Threads: none.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::director {

struct ProjectHome {
  std::string project_id;   // empty: the state knows no id, or another folder's id
  std::string copied_from;  // the folder of which this is a copy; empty: no copy
};

// Returns the home of the project in `project_folder`, from its state. Under the project's lock;
// without the lock the answer may be out of date. Changes nothing: a damaged file counts as absent.
ProjectHome FindHome(const std::string& state_directory, const std::string& project_folder);

// Records that the project has this id, and is here. Durable on return. Under the project's lock.
// Repairs a damaged file, and notes that (healed.h).
absl::Status WriteHome(const std::string& state_directory, const std::string& project_folder,
                       const std::string& project_id);

// Returns only the id, as it is written; empty: unknown.
std::string ReadProjectId(const std::string& state_directory);

}  // namespace galley::director
