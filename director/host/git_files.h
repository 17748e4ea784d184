// GitFiles: finds the files under a project's mounts that may differ from the files of a standing,
// by asking git (`galley cook --changed-since`).
//
// Git is trusted only for plain files that it tracks and does not convert, and whose stamps equal
// the stamps in its index for the commit. Any other file is returned, and Galley looks at it. A
// file that is not returned has the bytes of its commit, both then and now.
//
// Threads: one. All functions block, and run git.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/content/snapshot.h"
#include "common/project/project.h"
#include "director/standing/standing.h"

namespace galley::director {

// Checks that `revision` exists. INVALID_ARGUMENT, for people: no mount is in a git repository, or
// no repository has the commit.
absl::Status CheckRevision(const project::Project& project, const std::string& revision,
                           Cancellation& stop);

struct GitLook {
  GitState state;
  int64_t began_ns = 0;  // wall time; `state` may lack later changes
};

// Asks git for the commits that are checked out, and for the files that differ from them. If git
// cannot tell, GitState::why_unknown says why.
GitLook LookAtGit(const project::Project& project, Cancellation& stop);

// Returns the virtual paths, sorted, of files that may have other bytes in `now` than in `before`;
// a folder stands for everything in it. FAILED_PRECONDITION: the reason why git cannot tell.
absl::StatusOr<std::vector<std::string>> ChangedByGit(const project::Project& project,
                                                      const GitState& before, const GitState& now,
                                                      Cancellation& stop);

// Returns the state of `look`, with the files of `paths` that changed after git was asked as dirty.
// `paths`: the files that were looked at; no other file has changed since.
GitState StateOf(GitLook look, const content::Snapshot& files,
                 const std::vector<std::string>& paths);
// The same for all files of the snapshot. REQUIRES: a snapshot whose files are all known.
GitState StateOf(GitLook look, const content::Snapshot& files);

// Returns the state with these files as dirty.
GitState WithDirty(GitState state, const std::vector<std::string>& paths);

}  // namespace galley::director
