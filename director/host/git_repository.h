// GitRepository: what git says of the files of a work tree below some of its folders.
//
// Nothing is written: no lock is taken, and the index is not refreshed. Git's settings that let it
// look less closely at files (core.fsmonitor, core.checkStat, core.ignoreCase, ...) are overruled
// on its command line. Of the environment git gets HOME, PATH, SUDO_UID and XDG_CONFIG_HOME alone:
// nothing that a hook or an editor sets (GIT_DIR, GIT_LITERAL_PATHSPECS, ...) changes an answer.
// Source: git(1), git-config(1), git-diff-index(1), git-ls-files(1), gitattributes(5).
//
// Threads: one. All functions block, and end with CANCELLED when `stop` is cancelled; UNAVAILABLE:
// git is not there, or fails, or takes too long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"

namespace galley::director {

class GitRepository {
 public:
  // The top of the work tree that a folder lies in. NOT_FOUND: in none, or git is not installed.
  // FAILED_PRECONDITION: for people: it lies in one for which git does not answer (safe.directory,
  // core.worktree).
  static absl::StatusOr<std::string> TopOf(const std::string& folder, Cancellation& stop);

  // `top`: as TopOf says. `folders`: what is asked of, in it; without links. `excluded`: folders
  // that are passed over.
  GitRepository(std::string top, std::vector<std::string> folders,
                const std::vector<std::string>& excluded, Cancellation& stop);

  const std::string& top() const { return top_; }
  // The commit that is checked out. NOT_FOUND: there is none yet.
  absl::StatusOr<std::string> Head() const;
  // False: it is not there (the clone may be shallow, or the name wrong).
  absl::StatusOr<bool> Has(const std::string& revision) const;
  absl::StatusOr<bool> IsShallow() const;

  // Why git's answers for this repository are not to be believed, whatever is set on its command
  // line; for people. Empty: they are.
  absl::StatusOr<std::string> WhyNotBelieved() const;

  // Paths in these functions are of the host; one of a folder stands for all that is in it.

  // The files that git knows in the commit or in its index, and that may differ from the commit's.
  // A file whose stamp is another one than in the index is among them, whatever is in it.
  absl::StatusOr<std::vector<std::string>> DifferingFrom(const std::string& commit) const;
  // What git does not know, also what it ignores; other repositories as folders.
  absl::StatusOr<std::vector<std::string>> Untracked() const;

  struct Tracked {
    std::vector<std::string> repositories;  // folders of submodules, whether they are there or not
    // Files that can have other bytes though git sees no difference: links, files that it was told
    // not to look at (assume-unchanged, skip-worktree), and files that it converts (filters, ends
    // of lines, encodings).
    std::vector<std::string> unwatched;
  };
  absl::StatusOr<Tracked> LookAtTracked() const;
  // Stands for all that decides how git makes files of a commit, but for submodules: its settings
  // and attributes. `untracked`: as Untracked says.
  absl::StatusOr<std::string> RulesId(const std::vector<std::string>& untracked) const;

 private:
  absl::StatusOr<std::string> Ask(std::vector<std::string> arguments) const;
  absl::StatusOr<std::vector<std::string>> List(std::vector<std::string> arguments) const;

  const std::string top_;
  std::vector<std::string> pathspecs_;
  Cancellation& stop_;
};

// The answer of `git ls-files -s -v -z`, as paths relative to the top. INVALID_ARGUMENT: it is
// none.
absl::StatusOr<GitRepository::Tracked> ReadTracked(std::string_view answer);

}  // namespace galley::director
