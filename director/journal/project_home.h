// ProjectHome: the project's id and the place that it was last at, twice in the state folder: in
// the files `project` and `project.copy` (sealed text, docs/formats.md). Each change has a higher
// number; of two the one with the higher number holds, so that an older file which was put back is
// found out. The journal keeps the id, too.
//
// A project folder may be copied together with its state. Two folders with one id would publish
// into one history, so the copy gets an id of its own. It is a copy only when the folder that its
// state records is another one that still holds that id; what was moved, restored from a backup or
// taken from a cache of CI keeps its id.
//
// Threads: none.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::director {

struct ProjectHome {
  std::string project_id;   // empty: the state does not know one, or it is that of another folder
  std::string copied_from;  // the folder of which this one is a copy; empty: it is none
};

// The home of the project in `project_folder`, as its state has it. Under the project's lock;
// without it the answer may be out of date. Changes nothing: a damaged one of the two files counts
// as absent.
ProjectHome FindHome(const std::string& state_directory, const std::string& project_folder);

// Records that the project has this id, and is here. Durable on return. Under the project's lock. A
// damaged file is put right, and noted (healed.h).
absl::Status WriteHome(const std::string& state_directory, const std::string& project_folder,
                       const std::string& project_id);

// The id alone, as it is written; empty: it is not known.
std::string ReadProjectId(const std::string& state_directory);

}  // namespace galley::director
