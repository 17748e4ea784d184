#include "director/host/git_files.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/real_path.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "director/host/git_repository.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// File times come from a clock that ticks every 10 ms, or more often.
constexpr int64_t kTickNs = 100'000'000;

absl::Status Unknown(std::string why) { return absl::FailedPreconditionError(std::move(why)); }

// Adds the path under the mounts for a host path (without links); a folder that has mounts in it
// stands for these mounts.
void AddVirtual(const project::Project& project, const std::string& host,
                std::set<std::string>& paths) {
  for (const content::Mount& mount : project.mounts) {
    const std::string folder = RealPath(mount.directory);
    if (content::IsUnder(folder, host)) {
      paths.insert(mount.path);
    } else if (content::IsUnder(host, folder)) {
      paths.insert((mount.path == "/" ? "" : mount.path) + host.substr(folder.size()));
    }
  }
}

void AddAll(const project::Project& project, const std::vector<std::string>& hosts,
            std::set<std::string>& paths) {
  for (const std::string& host : hosts) AddVirtual(project, host, paths);
}

// Returns folders that no scan enters.
std::vector<std::string> Excluded(const project::Project& project) {
  std::vector<std::string> folders;
  for (const std::string& folder :
       {JoinPath(project.root, ".galley"), project.store.directory, project.output_directory})
    folders.push_back(RealPath(folder));
  return folders;
}

struct Mounted {
  // The mounted folders by the top of their repository; "": folders in no repository.
  std::map<std::string, std::vector<std::string>> folders;
  std::string refusal;  // git's refusal for a folder in no repository; for people
};

absl::StatusOr<Mounted> MountsByTop(const project::Project& project, Cancellation& stop) {
  Mounted mounted;
  for (const content::Mount& mount : project.mounts) {
    const std::string folder = RealPath(mount.directory);
    const absl::StatusOr<std::string> top = GitRepository::TopOf(folder, stop);
    if (absl::IsFailedPrecondition(top.status())) {
      mounted.refusal = MessageOf(top.status());
    } else if (!top.ok() && !absl::IsNotFound(top.status())) {
      return top.status();
    }
    mounted.folders[top.value_or("")].push_back(folder);
  }
  return mounted;
}

constexpr std::string_view kNoRepository =
    "no mount of the project is in a git repository, or git is not installed";

// Look: goes through the repositories under the mounts, submodules included.
class Look {
 public:
  Look(const project::Project& project, Cancellation& stop)
      : project_(project), excluded_(Excluded(project)), stop_(stop) {}

  absl::StatusOr<GitState> Run() {
    ASSIGN_OR_RETURN(Mounted mounted, MountsByTop(project_, stop_));
    if (!mounted.refusal.empty()) return Unknown(std::move(mounted.refusal));
    auto& waiting = mounted.folders;
    if (waiting.size() == 1 && waiting.contains("")) return Unknown(std::string(kNoRepository));
    AddAll(project_, waiting[""], dirty_);
    waiting.erase("");
    while (!waiting.empty()) {
      auto next = waiting.extract(waiting.begin());
      RETURN_IF_ERROR(LookAt(GitRepository(next.key(), next.mapped(), excluded_, stop_), waiting));
    }
    if (dirty_.size() > kDirtyMax) {
      return Unknown(
          fmt::format("of {} files git does not tell, or they are in no commit: links, "
                      "and what has filters or other line ends, are not believed",
                      dirty_.size()));
    }
    state_.dirty.assign(dirty_.begin(), dirty_.end());
    return std::move(state_);
  }

 private:
  absl::Status LookAt(const GitRepository& repository,
                      std::map<std::string, std::vector<std::string>>& waiting) {
    if (!seen_.insert(repository.top()).second) return absl::OkStatus();
    ASSIGN_OR_RETURN(std::string doubt, repository.WhyNotBelieved());
    if (!doubt.empty()) return Unknown(std::move(doubt));
    ASSIGN_OR_RETURN(std::string commit, repository.Head());
    ASSIGN_OR_RETURN(const std::vector<std::string> untracked, repository.Untracked());
    ASSIGN_OR_RETURN(std::string rules, repository.RulesId(untracked));
    ASSIGN_OR_RETURN(const GitRepository::Tracked tracked, repository.LookAtTracked());
    ASSIGN_OR_RETURN(const std::vector<std::string> differing, repository.DifferingFrom(commit));
    for (const auto* paths : {&untracked, &tracked.unwatched, &differing})
      AddAll(project_, *paths, dirty_);
    for (const std::string& folder : tracked.repositories) {
      const absl::StatusOr<std::string> top = GitRepository::TopOf(folder, stop_);
      if (top.ok() && *top == folder) {
        waiting[folder].push_back(folder);
      } else {
        AddVirtual(project_, folder, dirty_);
      }
    }
    state_.repositories.push_back({repository.top(), std::move(commit), std::move(rules)});
    return absl::OkStatus();
  }

  const project::Project& project_;
  const std::vector<std::string> excluded_;
  Cancellation& stop_;
  std::set<std::string> seen_;
  std::set<std::string> dirty_;
  GitState state_;
};

}  // namespace

absl::Status CheckRevision(const project::Project& project, const std::string& revision,
                           Cancellation& stop) {
  const auto wrong = [&](std::string_view why) {
    return InvalidArgumentError("--changed-since {}: {}", revision, why);
  };
  const auto found = MountsByTop(project, stop);
  if (!found.ok()) return wrong(MessageOf(found.status()));
  std::string tops;
  bool is_shallow = false;
  for (const auto& [top, mounted] : found->folders) {
    if (top.empty()) continue;
    const GitRepository repository(top, mounted, {}, stop);
    const absl::StatusOr<bool> has = repository.Has(revision);
    if (!has.ok()) return wrong(MessageOf(has.status()));
    if (*has) return absl::OkStatus();
    tops += (tops.empty() ? "" : ", ") + top;
    is_shallow |= repository.IsShallow().value_or(false);
  }
  if (tops.empty())
    return wrong(found->refusal.empty() ? kNoRepository : std::string_view(found->refusal));
  return wrong(fmt::format("{} has no such commit{}", tops,
                           is_shallow ? "; the clone is shallow: `git fetch --unshallow`, or "
                                        "`--deepen`, gets more of it"
                                      : ""));
}

GitLook LookAtGit(const project::Project& project, Cancellation& stop) {
  GitLook look{.state = {}, .began_ns = absl::ToUnixNanos(absl::Now())};
  absl::StatusOr<GitState> state = Look(project, stop).Run();
  if (state.ok()) {
    look.state = *std::move(state);
  } else {
    look.state.why_unknown = MessageOf(state.status());
  }
  return look;
}

absl::StatusOr<std::vector<std::string>> ChangedByGit(const project::Project& project,
                                                      const GitState& before, const GitState& now,
                                                      Cancellation& stop) {
  if (!now.why_unknown.empty()) return Unknown(now.why_unknown);
  if (!before.why_unknown.empty()) return Unknown("when it last looked, " + before.why_unknown);
  if (before.repositories.empty())
    return Unknown("the last cook did not keep what git knew of its files");
  std::set<std::string> paths(now.dirty.begin(), now.dirty.end());
  paths.insert(before.dirty.begin(), before.dirty.end());
  ASSIGN_OR_RETURN(const Mounted found, MountsByTop(project, stop));
  const auto& mounts = found.folders;
  for (const GitState::Repository& one : now.repositories) {
    const auto old = std::ranges::find_if(before.repositories,
                                          [&](const auto& each) { return each.top == one.top; });
    if (old == before.repositories.end())
      return Unknown(fmt::format("the repository {} is new", one.top));
    if (old->rules != one.rules)
      return Unknown(
          fmt::format("git's settings or attributes (.gitattributes) changed in {}", one.top));
    const auto mounted = mounts.find(one.top);
    const GitRepository repository(one.top,
                                   mounted == mounts.end() ? std::vector{one.top} : mounted->second,
                                   Excluded(project), stop);
    const absl::StatusOr<bool> has = repository.Has(old->commit);
    if (!has.ok()) return Unknown(MessageOf(has.status()));
    if (!*has)
      return Unknown(
          fmt::format("{} has the commit {} of the last cook no more", one.top, old->commit));
    const auto differing = repository.DifferingFrom(old->commit);
    if (!differing.ok()) return Unknown(MessageOf(differing.status()));
    AddAll(project, *differing, paths);
  }
  for (const GitState::Repository& old : before.repositories) {
    const auto is_it = [&](const auto& one) { return one.top == old.top; };
    if (std::ranges::none_of(now.repositories, is_it)) AddVirtual(project, old.top, paths);
  }
  return std::vector<std::string>(paths.begin(), paths.end());
}

GitState WithDirty(GitState state, const std::vector<std::string>& paths) {
  if (!state.why_unknown.empty() || state.repositories.empty() || paths.empty()) return state;
  std::set<std::string> dirty(std::make_move_iterator(state.dirty.begin()),
                              std::make_move_iterator(state.dirty.end()));
  dirty.insert(paths.begin(), paths.end());
  if (dirty.size() > kDirtyMax)
    return {.repositories = {},
            .dirty = {},
            .why_unknown = fmt::format("{} files were not of its commits", dirty.size())};
  state.dirty.assign(dirty.begin(), dirty.end());
  return state;
}

GitState StateOf(GitLook look, const content::Snapshot& files,
                 const std::vector<std::string>& paths) {
  std::vector<std::string> changed;
  for (const std::string& path : paths) {
    const content::FileEntry* const file = files.Find(path);
    // The path is a folder, or a file that is gone: whoever named it had a reason.
    if (file == nullptr || !file->error.empty() || file->stat.ctime_ns >= look.began_ns - kTickNs)
      changed.push_back(path);
  }
  return WithDirty(std::move(look.state), changed);
}

GitState StateOf(GitLook look, const content::Snapshot& files) {
  std::vector<std::string> changed;
  for (const content::FileEntry& file : files.files()) {
    if (!file.error.empty() || file.stat.ctime_ns >= look.began_ns - kTickNs)
      changed.push_back(file.path);
  }
  return WithDirty(std::move(look.state), changed);
}

}  // namespace galley::director
