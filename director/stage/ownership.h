// Ownership: tells Galley's sandboxes from folders of people, so that a cook never stages into the
// latter.
//
// The file `.galley-sandbox` in a sandbox names its owner. The file is written before anything is
// staged there, and stays. The project's state has a copy, `sandboxes`: the folders to which the
// project stages, by path, device, inode and time of birth. Both are sealed text
// (common/base/sealed_text.h, docs/formats.md).
//
// A folder may be staged to when
//   - it is absent or empty;
//   - its `.galley-sandbox` names this project's id, or this project's folder and name (whose state
//     was deleted);
//   - its `.galley-sandbox` names a project in which the folder was at the same place as it is in
//     this project (the folder was moved or copied along with the project), and that place is in
//     `.galley`, or both projects have one name; or
//   - it has no such file, but a marker of staging (an older Galley wrote no `.galley-sandbox`), or
//     is in the project's state.
// Names of projects are compared only if both come from galley.toml: the name of a folder changes
// with each move.
//
// Threads: none. One process of a project at a time writes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace galley::director {

struct SandboxOwner {
  std::string project_id;      // empty: the project has no id yet
  std::string project_name;    // empty: galley.toml has none
  std::string project_folder;  // the real path of the folder of galley.toml
  std::string platform;
};

struct SandboxRules {
  bool adopt = false;  // allows any folder
  bool exact = false;  // removes files that Galley never put there
  // Real paths of folders that a sandbox must neither be nor contain, even with `adopt`: the
  // project's folder, its store, its mounts.
  std::vector<std::string> apart_from = {};
};

// Checks that Galley may stage to `directory`; changes nothing. FAILED_PRECONDITION, with a
// complete message: it is no folder, it or a folder above it is a dangling link, it holds files
// that are not Galley's, it is another project's sandbox or a newer Galley's, it contains a folder
// of the project, or it holds a repository and `exact` is set.
absl::Status CheckSandbox(const std::string& directory, const SandboxOwner& owner,
                          const std::string& state_directory, const SandboxRules& rules = {});

// Checks that `directory`, or the nearest existing folder above it, can be written to. Changes
// nothing.
absl::Status CheckWritable(const std::string& directory);

// Makes the folder if it is absent, and claims it for this project.
absl::Status ClaimSandbox(const std::string& directory, const SandboxOwner& owner,
                          const std::string& state_directory);

}  // namespace galley::director
