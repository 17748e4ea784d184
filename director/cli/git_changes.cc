#include "director/cli/git_changes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "director/cli/change_list.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

struct Answer {
  ExitStatus exit;
  std::string output;
};

// Runs git in `folder`, and waits.
absl::StatusOr<Answer> Git(const std::string& folder, std::vector<std::string> arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "make", "a pipe");
  const FileDescriptor output(ends[0]);
  FileDescriptor input(ends[1]);
  const FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ChildOptions options{.argv = {"/usr/bin/env", "git", "-C", folder},
                       .environment = {"GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"},
                       .inherit_environment = true,
                       .inherit = {{input.get(), 1}, {nowhere.get(), 2}}};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  ASSIGN_OR_RETURN(ChildProcess git, ChildProcess::Start(options));
  input = FileDescriptor();
  Answer answer;
  std::string buffer(64 << 10, '\0');
  while (true) {
    const ssize_t count = ::read(output.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.output.append(buffer.data(), static_cast<size_t>(count));
  }
  answer.exit = git.Wait();
  return answer;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// A repository, and the mounted folders in it.
class Repository {
 public:
  Repository(std::string top, std::vector<std::string> folders)
      : top_(std::move(top)), folders_(std::move(folders)) {}

  absl::Status Knows(const std::string& revision) const {
    ASSIGN_OR_RETURN(const Answer known,
                     Git(top_, {"rev-parse", "--verify", "--quiet", revision + "^{commit}"}));
    if (known.exit.ok()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Answer shallow, Git(top_, {"rev-parse", "--is-shallow-repository"}));
    return absl::InvalidArgumentError(
        fmt::format("--changed-since {}: the repository {} has no such commit{}", revision, top_,
                    FirstLine(shallow.output) == "true"
                        ? ": the clone is shallow, so fetch more of it (git fetch --unshallow)"
                        : ""));
  }

  absl::StatusOr<director::GitState> Now() const {
    director::GitState state{.top = top_};
    ASSIGN_OR_RETURN(const Answer head, Git(top_, {"rev-parse", "--verify", "--quiet", "HEAD"}));
    if (!head.exit.ok()) return state;  // no commit yet
    state.revision = FirstLine(head.output);
    ASSIGN_OR_RETURN(state.dirty, DifferingFrom("HEAD"));
    ASSIGN_OR_RETURN(const std::vector<std::string> unknown, Unknown());
    state.dirty.insert(state.dirty.end(), unknown.begin(), unknown.end());
    return state;
  }

  // A submodule whose commit or files differ is told as a folder.
  absl::StatusOr<std::vector<std::string>> DifferingFrom(const std::string& revision) const {
    return List(
        {"diff", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", revision, "--"});
  }

 private:
  // What no commit has: untracked files, also those that are ignored.
  absl::StatusOr<std::vector<std::string>> Unknown() const {
    return List({"ls-files", "--others", "-z", "--"});
  }

  absl::StatusOr<std::vector<std::string>> List(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), folders_.begin(), folders_.end());
    ASSIGN_OR_RETURN(const Answer answer, Git(top_, arguments));
    if (!answer.exit.ok()) {
      return absl::InvalidArgumentError(fmt::format("`git {}` failed in {}: {}", arguments.front(),
                                                    top_, answer.exit.ToString()));
    }
    std::vector<std::string> paths;
    for (const std::string& path : PathsIn(answer.output + std::string(1, '\0')))
      paths.push_back(JoinPath(top_, path));
    return paths;
  }

  const std::string top_;
  const std::vector<std::string> folders_;
};

}  // namespace

absl::StatusOr<GitChanges> FindGitChanges(const project::Project& project,
                                          const std::string& revision,
                                          const std::vector<director::GitState>& before) {
  std::map<std::string, std::vector<std::string>> folders;  // by repository
  for (const content::Mount& mount : project.mounts) {
    const absl::StatusOr<Answer> top = Git(mount.directory, {"rev-parse", "--show-toplevel"});
    if (!top.ok()) return absl::InvalidArgumentError(top.status().message());
    if (!top->exit.ok()) {
      return absl::InvalidArgumentError(fmt::format(
          "--changed-since {}: {} (mount {}) is in no git repository, or git is not installed",
          revision, mount.directory, mount.path));
    }
    folders[FirstLine(top->output)].push_back(mount.directory);
  }
  GitChanges changes;
  std::set<std::string> paths;
  for (const auto& [top, mounted] : folders) {
    const Repository repository(top, mounted);
    RETURN_IF_ERROR(repository.Knows(revision));
    ASSIGN_OR_RETURN(director::GitState now, repository.Now());
    paths.insert(now.dirty.begin(), now.dirty.end());
    changes.now.push_back(std::move(now));
    const auto old =
        std::find_if(before.begin(), before.end(), [&](const auto& one) { return one.top == top; });
    if (old == before.end() || old->revision.empty()) {
      changes.why_not = fmt::format(
          "the last cook of the same kept no commit of {}: this one does, if it ends well", top);
      continue;
    }
    paths.insert(old->dirty.begin(), old->dirty.end());
    if (!repository.Knows(old->revision).ok()) {
      changes.why_not = fmt::format("the commit of the last cook ({}) is not known in {} any more",
                                    old->revision, top);
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> since, repository.DifferingFrom(old->revision));
    paths.insert(since.begin(), since.end());
  }
  if (changes.why_not.empty()) changes.paths.emplace(paths.begin(), paths.end());
  return changes;
}

}  // namespace galley::cli
