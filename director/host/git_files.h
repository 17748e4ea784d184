// GitFiles: which files under a project's mounts git cannot vouch for, between the files that a
// standing is of and those of today (`galley cook --changed-since`).
//
// A file that is not named has the bytes that its commit gave it, then and now. Git is believed of
// plain files only that it knows, that it does not convert, and of which its index says by their
// stamps that they are those of the commit; all else is named, and Galley looks at it.
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

// INVALID_ARGUMENT: for people: no mount is in a git repository, or none has such a commit.
absl::Status CheckRevision(const project::Project& project, const std::string& revision,
                           Cancellation& stop);

struct GitLook {
  GitState state;
  int64_t began_ns = 0;  // wall time; what changed from then on may not be in it
};

// What git says now, of the commits that are checked out. Where that is not to be had, the state
// says why.
GitLook LookAtGit(const project::Project& project, Cancellation& stop);

// The virtual paths, sorted, of all that may have other bytes now than when `before` was kept; of a
// folder, with all in it. FAILED_PRECONDITION: why git does not know.
absl::StatusOr<std::vector<std::string>> ChangedByGit(const project::Project& project,
                                                      const GitState& before, const GitState& now,
                                                      Cancellation& stop);

// The state for files that were looked at after git was asked: what changed meanwhile is dirty.
// `paths`: that were looked at; all others are as they were when git was asked.
GitState StateOf(GitLook look, const content::Snapshot& files,
                 const std::vector<std::string>& paths);
// All were looked at. REQUIRES: a snapshot of which all files are known.
GitState StateOf(GitLook look, const content::Snapshot& files);

// The state for files of which these became other ones, whatever they are now.
GitState WithDirty(GitState state, const std::vector<std::string>& paths);

}  // namespace galley::director
