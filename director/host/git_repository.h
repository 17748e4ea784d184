// GitRepository: what git says of the files of a work tree, below some of its folders.
//
// Nothing is written: no lock is taken, and the index is not refreshed. Git's settings that let it
// look less closely at files (core.fsmonitor, core.checkStat, core.ignoreCase, ...) are overruled
// on its command line. From the environment git gets only HOME, PATH, SUDO_UID and XDG_CONFIG_HOME:
// a variable that a hook or an editor sets (GIT_DIR, GIT_LITERAL_PATHSPECS, ...) changes no answer.
// Source: git(1), git-config(1), git-diff-index(1), git-ls-files(1), gitattributes(5).
//
// Threads: one. All functions block, and end with CANCELLED when `stop` is cancelled; UNAVAILABLE:
// git does not exist, fails, or takes too long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"

namespace galley::director {

class GitRepository {
 public:
  // Returns the top of the work tree in which a folder lies. NOT_FOUND: the folder lies in no work
  // tree, or git is not installed. FAILED_PRECONDITION, for people: git does not answer for the
  // work tree (safe.directory, core.worktree).
  static absl::StatusOr<std::string> TopOf(const std::string& folder, Cancellation& stop);

  // `top`: as TopOf returns it. `folders`: the folders in `top` to ask about; without links.
  // `excluded`: folders to skip.
  GitRepository(std::string top, std::vector<std::string> folders,
                const std::vector<std::string>& excluded, Cancellation& stop);

  const std::string& top() const { return top_; }
  // Returns the commit that is checked out. NOT_FOUND: there is none yet.
  absl::StatusOr<std::string> Head() const;
  // False: the commit does not exist (the clone may be shallow, or the name wrong).
  absl::StatusOr<bool> Has(const std::string& revision) const;
  absl::StatusOr<bool> IsShallow() const;

  // Says for people why git's answers for this repository cannot be believed, whatever is set on
  // its command line. Empty: they can.
  absl::StatusOr<std::string> WhyNotBelieved() const;

  // Paths in these functions are host paths; a folder stands for everything in it.

  // Returns the files that git knows in the commit or in its index, and that may differ from the
  // commit. A file whose stamp differs from the index is among them, whatever its bytes.
  absl::StatusOr<std::vector<std::string>> DifferingFrom(const std::string& commit) const;
  // Returns what git does not know, ignored files included; other repositories as folders.
  absl::StatusOr<std::vector<std::string>> Untracked() const;

  struct Tracked {
    std::vector<std::string> repositories;  // folders of submodules, whether they exist or not
    // Files that can have other bytes though git sees no difference: links, files that git was told
    // not to look at (assume-unchanged, skip-worktree), and files that git converts (filters, ends
    // of lines, encodings).
    std::vector<std::string> unwatched;
  };
  absl::StatusOr<Tracked> LookAtTracked() const;
  // Returns an id for everything that decides how git makes files of a commit, except submodules:
  // its settings and attributes. `untracked`: as Untracked returns it.
  absl::StatusOr<std::string> RulesId(const std::vector<std::string>& untracked) const;

 private:
  absl::StatusOr<std::string> Ask(std::vector<std::string> arguments) const;
  absl::StatusOr<std::vector<std::string>> List(std::vector<std::string> arguments) const;

  const std::string top_;
  std::vector<std::string> pathspecs_;
  Cancellation& stop_;
};

// Parses the answer of `git ls-files -s -v -z`, as paths relative to the top. INVALID_ARGUMENT: it
// is no such answer.
absl::StatusOr<GitRepository::Tracked> ReadTracked(std::string_view answer);

}  // namespace galley::director
