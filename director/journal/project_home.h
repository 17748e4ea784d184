// ProjectHome: the project's id and the folder where it last was, twice in the state folder: in the
// files `project` and `project.copy` (sealed text, docs/formats.md). Each change has a higher
// number; the file with the higher number wins, so that an old file which was put back is noticed.
// The journal keeps the id as well.
//
// A project folder may be copied together with its state. Two folders with one id would publish
// into one history, so a copy gets an id of its own. A folder is a copy only if its state names
// another folder that still has the same id; a folder that was moved, restored from a backup or
// taken from a CI cache keeps its id.
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

// Returns the home of the project in `project_folder`, from its state. Changes nothing: a damaged
// file counts as absent. Hold the project's lock: without it the answer may be out of date.
ProjectHome FindHome(const std::string& state_directory, const std::string& project_folder);

// Records that the project has this id, and is in `project_folder`. Durable on return. Repairs a
// damaged file, and notes that (repairs.h). REQUIRES: the project's lock is held.
absl::Status WriteHome(const std::string& state_directory, const std::string& project_folder,
                       const std::string& project_id);

// Returns only the recorded id; empty: unknown.
std::string ReadProjectId(const std::string& state_directory);

}  // namespace galley::director
