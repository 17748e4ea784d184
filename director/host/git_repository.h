// GitRepository: asks git about the files of a work tree, below some of its folders.
//
// Nothing is written: no lock is taken, and the index is not refreshed. Settings that let git look
// less closely at files (core.fsmonitor, core.checkStat, core.ignoreCase, ...) are overridden on
// its command line. From the environment git gets only HOME, PATH, SUDO_UID and XDG_CONFIG_HOME:
// variables of hooks and editors (GIT_DIR, GIT_LITERAL_PATHSPECS, ...) change no answer.
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
  // Says whether the commit exists; a shallow clone may lack it.
  absl::StatusOr<bool> Has(const std::string& revision) const;
  absl::StatusOr<bool> IsShallow() const;

  // Says for people why git's answers for this repository cannot be trusted, even with all settings
  // overridden. Empty: they can be trusted.
  absl::StatusOr<std::string> WhyNotBelieved() const;

  // The following functions return host paths; a folder stands for everything in it.

  // Returns the files of the commit or of the index that may differ from the commit, among them
  // each file whose stamp differs from the index.
  absl::StatusOr<std::vector<std::string>> DifferingFrom(const std::string& commit) const;
  // Returns the files that git does not track, also ignored files, and other repositories as
  // folders.
  absl::StatusOr<std::vector<std::string>> Untracked() const;

  struct Tracked {
    std::vector<std::string> repositories;  // folders of submodules, whether they exist or not
    // Files whose bytes may differ without a difference for git: links, files that git is told to
    // skip (assume-unchanged, skip-worktree), and files that git converts by filters, line ends or
    // encodings.
    std::vector<std::string> unwatched;
  };
  absl::StatusOr<Tracked> LookAtTracked() const;
  // Returns an id of the settings and attributes that decide how git checks out a commit, except
  // for submodules. `untracked`: from Untracked.
  absl::StatusOr<std::string> RulesId(const std::vector<std::string>& untracked) const;

 private:
  absl::StatusOr<std::string> Ask(std::vector<std::string> arguments) const;
  absl::StatusOr<std::vector<std::string>> List(std::vector<std::string> arguments) const;

  const std::string top_;
  std::vector<std::string> pathspecs_;
  Cancellation& stop_;
};

// Parses the output of `git ls-files -s -v -z`; paths stay relative to the top. INVALID_ARGUMENT:
// the output has another form.
absl::StatusOr<GitRepository::Tracked> ReadTracked(std::string_view answer);

}  // namespace galley::director
