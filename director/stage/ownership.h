// Ownership: which folders are sandboxes of Galley's, so that a cook never stages into a folder
// that is somebody's.
//
// The file `.galley-sandbox` in a sandbox says whose it is. It is written before anything is staged
// there, and stays. The project's state has a copy, `sandboxes`: the folders that it stages to, by
// path, device, inode and time of birth. Both are sealed text (common/base/sealed_text.h,
// docs/formats.md).
//
// A folder may be staged to when
//   - it is absent or empty;
//   - its `.galley-sandbox` names this project's id, or this project's folder and name (whose state
//     was deleted);
//   - its `.galley-sandbox` names a project in which it was at the same place as it is in this one
//     (it was moved or copied along with it), and that place is in `.galley` or the projects have
//     one name; or
//   - it has no such file, but a marker of staging (an older Galley wrote none), or is in the
//     project's state.
// Names are compared only if galley.toml gives both: the name of the folder is another one after
// each move.
//
// Threads: none. One process of a project at a time writes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace galley::director {

struct SandboxOwner {
  std::string project_id;      // empty: it has none yet
  std::string project_name;    // empty: galley.toml gives none
  std::string project_folder;  // the real path of the folder of galley.toml
  std::string platform;
};

struct SandboxRules {
  bool adopt = false;  // any folder will do
  bool exact = false;  // files that Galley never put there are going to be removed
  // Real paths of folders that no sandbox may be or contain, adopted or not: the project's, its
  // store, its mounts.
  std::vector<std::string> apart_from = {};
};

// Changes nothing. FAILED_PRECONDITION, a whole message: `directory` is not to be staged to: it is
// no folder, it or a folder above it is a link to nothing, it holds what is not Galley's, is
// another project's sandbox or a newer Galley's, contains a folder of the project's, or holds a
// repository and `exact` is asked for.
absl::Status CheckSandbox(const std::string& directory, const SandboxOwner& owner,
                          const std::string& state_directory, const SandboxRules& rules = {});

// Changes nothing. `directory`, or where it is absent the nearest folder above it, can be written
// to.
absl::Status CheckWritable(const std::string& directory);

// Makes the folder if it is absent, and it is this project's from now on.
absl::Status ClaimSandbox(const std::string& directory, const SandboxOwner& owner,
                          const std::string& state_directory);

}  // namespace galley::director
