// GitChanges: the files that differ from what the last cook saw, by git, for `--changed-since`.
//
// Git knows what differs between two of its commits, and what of a checkout differs from a commit;
// it knows nothing of the state in which the last cook found the files. So each cook that is asked
// so has the commit of then and the files that differed from it kept with what stands. The list is
// then: what differs between that commit and the checkout of now, what differed then, and all that
// git does not know (untracked and ignored files) then and now.
//
// Left out, as git itself leaves it out: files with the flags assume-unchanged or skip-worktree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/standing/standing.h"

namespace galley::cli {

struct GitChanges {
  // Host paths, absolute; nullopt: `why_not` says why that is not known, and all is to be looked
  // at.
  std::optional<std::vector<std::string>> paths;
  std::string why_not;
  std::vector<director::GitState> now;  // of all repositories of the mounts, to be kept
};

// `revision`: the commit from which the kept state is, as whoever asks believes; it has to be
// known. `before`: what was kept with the last cook of the same. INVALID_ARGUMENT: a mount is in
// no repository, a repository does not know the revision, or git cannot be run.
absl::StatusOr<GitChanges> FindGitChanges(const project::Project& project,
                                          const std::string& revision,
                                          const std::vector<director::GitState>& before);

}  // namespace galley::cli
