// GitFiles: the files under a project's mounts that git cannot vouch for, between the files of a
// standing and today's files (`galley cook --changed-since`).
//
// A file that is not named has the bytes that its commit gave it, then and now. Git is believed
// only about plain files that it knows and does not convert, and whose stamps equal those in its
// index for the commit; every other file is named, and Galley looks at it.
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

// INVALID_ARGUMENT, for people: no mount is in a git repository, or no repository has such a
// commit.
absl::Status CheckRevision(const project::Project& project, const std::string& revision,
                           Cancellation& stop);

struct GitLook {
  GitState state;
  int64_t began_ns = 0;  // wall time; later changes may not be in the look
};

// Returns what git says now of the commits that are checked out. If git cannot tell, the state says
// why.
GitLook LookAtGit(const project::Project& project, Cancellation& stop);

// Returns the virtual paths, sorted, of files that may have other bytes now than when `before` was
// kept; a folder stands for everything in it. FAILED_PRECONDITION: the reason why git does not
// know.
absl::StatusOr<std::vector<std::string>> ChangedByGit(const project::Project& project,
                                                      const GitState& before, const GitState& now,
                                                      Cancellation& stop);

// Returns the state for files that were looked at after git was asked: files that changed meanwhile
// are dirty. `paths`: the files that were looked at; other files are as they were when git was
// asked.
GitState StateOf(GitLook look, const content::Snapshot& files,
                 const std::vector<std::string>& paths);
// Returns the state when all files were looked at. REQUIRES: a snapshot whose files are all known.
GitState StateOf(GitLook look, const content::Snapshot& files);

// Returns the state after these files changed, whatever their bytes are now.
GitState WithDirty(GitState state, const std::vector<std::string>& paths);

}  // namespace galley::director
