#include "director/stage/plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/stage/apply_names.h"
#include "director/stage/repository.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Trees are at most 256 deep (tree.h); Galley makes no deeper folder, and each level holds a
// descriptor.
constexpr size_t kFoldersDeepMax = 512;

std::string Join(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

const std::string& PathOf(const std::string& path) { return path; }
const std::string& PathOf(const PlannedFile& file) { return file.path; }

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> Union(const std::vector<std::string>& a,
                               const std::vector<std::string>& b) {
  std::vector<std::string> both;
  both.reserve(std::max(a.size(), b.size()));
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// Says whether `path` may be an output of `package` by its name: what follows is a suffix as in
// record::ValidateSuffix, "", ".ext", ".d/<name>".
bool IsOutput(std::string_view path, std::string_view package) {
  if (!path.starts_with(package)) return false;
  const std::string_view rest = path.substr(package.size());
  return rest.empty() || (rest.front() == '.' &&
                          (rest.find('/') == std::string_view::npos || rest.starts_with(".d/")));
}

class Planner {
 public:
  Planner(Sandbox& sandbox, PlanInput input)
      : sandbox_(sandbox),
        input_(std::move(input)),
        packages_beside_(input_.packages_beside.begin(), input_.packages_beside.end()) {}

  absl::StatusOr<Plan> Make() {
    RETURN_IF_ERROR(NoteWanted());
    if (input_.by_the_book) {
      RETURN_IF_ERROR(Clear("", 0, false).status());
    } else {
      RETURN_IF_ERROR(RemoveFailed());
      RETURN_IF_ERROR(CheckFolders());
    }
    for (const tree::TreeFile& file : input_.wanted) RETURN_IF_ERROR(Place(file));
    RETURN_IF_ERROR(CheckBlocked());
    NoteFiles();
    return std::move(plan_);
  }

 private:
  absl::Status NoteWanted() {
    std::ranges::sort(input_.wanted, [](const auto& a, const auto& b) { return a.path < b.path; });
    for (const tree::TreeFile& file : input_.wanted) {
      if (IsStagingsOwn(file.path))
        return InvalidArgumentError("the tree holds {}, a name of staging's own", file.path);
      for (size_t end = file.path.rfind('/'); end != std::string::npos && end > 0;
           end = file.path.rfind('/', end - 1)) {
        if (!plan_.folders.insert(file.path.substr(0, end)).second) break;
      }
    }
    return absl::OkStatus();
  }

  bool IsWanted(std::string_view path) const {
    const auto found = std::lower_bound(
        input_.wanted.begin(), input_.wanted.end(), path,
        [](const tree::TreeFile& file, std::string_view p) { return file.path < p; });
    return found != input_.wanted.end() && found->path == path;
  }

  // Says whether Galley put the file there, or an interrupted operation of Galley left it.
  bool IsOurs(std::string_view path) const {
    return path.substr(0, path.find('/')) == kApplyFolder || Sandbox::IsTemporary(path) ||
           std::binary_search(input_.known.begin(), input_.known.end(), path);
  }

  bool IsOurFolder(std::string_view path) const {
    if (path.substr(0, path.find('/')) == kApplyFolder) return true;
    const std::string below = fmt::format("{}/", path);
    const auto found = std::lower_bound(input_.known.begin(), input_.known.end(), below);
    return found != input_.known.end() && found->starts_with(below);
  }

  // Notes that `path` is in the way of what is to be at `place` or below it.
  void NoteBlocked(std::string path, std::string_view place) {
    if (blocked_count_++ == 0) {
      const auto wanted = std::lower_bound(
          input_.wanted.begin(), input_.wanted.end(),
          IsWanted(place) ? std::string(place) : fmt::format("{}/", place),
          [](const tree::TreeFile& file, const std::string& p) { return file.path < p; });
      first_blocked_ = wanted->path;
    }
    if (blocked_.size() < kForeignNamedMax) blocked_.push_back(std::move(path));
  }

  absl::Status CheckBlocked() const {
    if (blocked_count_ == 0) return absl::OkStatus();
    if (blocked_count_ == 1) {
      return FailedPreconditionError(
          "{} was not put there by Galley, and {} needs its place: move it away{}",
          EscapeControl(sandbox_.Full(blocked_.front())),
          NameWithPackage(first_blocked_, input_.package_of),
          input_.by_the_book ? ", or cook with --exact, which removes it" : "");
    }
    std::string names;
    for (const std::string& path : blocked_)
      names += (names.empty() ? "" : ", ") + EscapeControl(path);
    if (blocked_count_ > blocked_.size())
      names += fmt::format(" and {} more", blocked_count_ - blocked_.size());
    return FailedPreconditionError(
        "{} files in {} were not put there by Galley, and cooked files need their places: {}: move "
        "them away{}",
        blocked_count_, EscapeControl(sandbox_.Full("")), names,
        input_.by_the_book ? ", or cook with --exact, which removes them" : "");
  }

  void AddForeign(std::string path) {
    if (plan_.foreign_count++ < kForeignNamedMax) plan_.foreign.push_back(std::move(path));
  }

  // Clears unwanted files from a folder: Galley's files go; other files stay, or go on an exact
  // stage. Returns a path that stays; empty: nothing stays. `is_in_the_way`: a file must go where
  // the folder is, so empty folders in it go as well, whoever made them.
  absl::StatusOr<std::string> Clear(const std::string& folder, size_t depth, bool is_in_the_way) {
    if (depth > kFoldersDeepMax) {
      return FailedPreconditionError("{}: more than {} folders deep", sandbox_.Full(folder),
                                     kFoldersDeepMax);
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(folder));
    if (input_.exact) RETURN_IF_ERROR(CheckBare(folder, names));
    std::string left;
    for (const std::string& name : names) {
      RETURN_IF_ERROR(CheckInterrupted(input_.interrupted));
      if (folder.empty() && IsStagingsOwn(name)) continue;
      const std::string path = Join(folder, name);
      ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
      ASSIGN_OR_RETURN(std::string stays, node.kind == NodeKind::kFolder
                                              ? ClearFolder(path, depth + 1, is_in_the_way)
                                              : ClearFile(path));
      if (left.empty()) left = std::move(stays);
    }
    return left;
  }

  absl::StatusOr<std::string> ClearFolder(const std::string& path, size_t depth,
                                          bool is_in_the_way) {
    const bool is_wanted = plan_.folders.contains(path);
    const bool is_ours = is_wanted || IsOurFolder(path);
    if (input_.exact && !is_ours && IsRepositoryName(NameOf(path))) return Repository(path);
    is_in_the_way |= IsWanted(path);
    const bool may_stay = !is_ours && !input_.exact;
    absl::StatusOr<std::string> left = std::string();
    bool is_read = !may_stay || depth <= kFoldersDeepMax;
    if (is_read) {
      left = Clear(path, depth, is_in_the_way);
      is_read = !may_stay || !absl::IsPermissionDenied(left.status());
    }
    if (!is_read) {  // nobody knows what is in it: all of it stays
      left = path + "/";
      AddForeign(*left);
    }
    RETURN_IF_ERROR(left.status());
    if (is_in_the_way && !left->empty() && IsWanted(path)) NoteBlocked(*left, path);
    if (is_wanted || !left->empty()) return left;
    if (may_stay && !is_in_the_way) return path;
    plan_.removals.push_back({path, true});
    return std::string();
  }

  // Clears a file, link or other non-folder.
  absl::StatusOr<std::string> ClearFile(const std::string& path) {
    if (IsWanted(path)) return path;
    if (doomed_.contains(path)) return std::string();  // already among the removals
    if (!IsOurs(path) && !input_.exact) {
      if (plan_.folders.contains(path)) {
        NoteBlocked(path, path);
      } else {
        AddForeign(path);
      }
      return path;
    }
    if (input_.exact && !IsOurs(path) && IsRepositoryName(NameOf(path))) return Repository(path);
    plan_.removals.push_back({path, false});
    return std::string();
  }

  // A folder whose HEAD is the tree's or Galley's is no repository.
  absl::Status CheckBare(const std::string& folder, const std::vector<std::string>& names) {
    ASSIGN_OR_RETURN(const bool is_bare, IsBareRepository(sandbox_, folder, names));
    const std::string head = Join(folder, kBareRepositoryFile);
    if (!is_bare || IsWanted(head) || IsOurs(head)) return absl::OkStatus();
    return Repository(folder);
  }

  absl::Status Repository(const std::string& path) const {
    return FailedPreconditionError(
        "{} is of a version control system, which --exact does not remove: move it "
        "away, or cook without --exact",
        EscapeControl(sandbox_.Full(path)));
  }

  // Narrow cooks: a path where the tree wants a folder has a folder, nothing, or a file of
  // Galley's.
  absl::Status CheckFolders() {
    for (const std::string& folder : plan_.folders) {
      ASSIGN_OR_RETURN(const Node node, sandbox_.Look(folder));
      const bool is_file = node.kind == NodeKind::kFile || node.kind == NodeKind::kOther;
      if (is_file && !IsOurs(folder)) NoteBlocked(folder, folder);
    }
    return absl::OkStatus();
  }

  absl::Status RemoveFailed() {
    for (const std::string& package : input_.failed_packages) {
      RETURN_IF_ERROR(CheckInterrupted(input_.interrupted));
      if (std::binary_search(input_.known.begin(), input_.known.end(), package))
        RETURN_IF_ERROR(RemoveOutput(package, package));
      const std::string below = package + ".";
      for (auto known = std::lower_bound(input_.known.begin(), input_.known.end(), below);
           known != input_.known.end() && known->starts_with(below); ++known) {
        RETURN_IF_ERROR(CheckInterrupted(input_.interrupted));
        if (IsOutput(*known, package)) RETURN_IF_ERROR(RemoveOutput(*known, package));
      }
    }
    return absl::OkStatus();
  }

  absl::Status RemoveOutput(const std::string& path, std::string_view package) {
    if (IsWanted(path) || IsOfAnother(path, package) || !doomed_.insert(path).second)
      return absl::OkStatus();
    ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
    if (node.kind == NodeKind::kFile || node.kind == NodeKind::kOther)
      plan_.removals.push_back({path, false});
    return absl::OkStatus();
  }

  // "a.json.meta" may be an output of "a.json" by its name, and belongs to "a.json.meta" if there
  // is such a package.
  bool IsOfAnother(std::string_view path, std::string_view package) const {
    if (packages_beside_.contains(path)) return path.size() > package.size();
    for (size_t dot = path.find('.', package.size() + 1); dot != std::string_view::npos;
         dot = path.find('.', dot + 1)) {
      const std::string_view other = path.substr(0, dot);
      if (IsOutput(path, other) && packages_beside_.contains(other)) return true;
    }
    return false;
  }

  absl::Status Place(const tree::TreeFile& file) {
    RETURN_IF_ERROR(CheckInterrupted(input_.interrupted));
    ASSIGN_OR_RETURN(const Node node, sandbox_.Look(file.path));
    if (node.kind == NodeKind::kFolder && !input_.by_the_book)
      RETURN_IF_ERROR(ClearFolder(file.path, 1, true).status());
    ASSIGN_OR_RETURN(const bool is_there, Lies(file, node));
    if (is_there) {
      ++plan_.unchanged;
      if (input_.knows_all && !IsOurs(file.path)) theirs_.insert(file.path);
    } else {
      const bool is_file = node.kind == NodeKind::kFile || node.kind == NodeKind::kOther;
      if (is_file && input_.knows_all && !input_.exact && !IsOurs(file.path))
        NoteBlocked(file.path, file.path);
      if (input_.knows_all && !IsOurs(file.path)) plan_.planned.push_back({file.path, file.digest});
      plan_.writes.push_back(file);
      plan_.stamps_to_fill.push_back(plan_.stamps.size());
    }
    plan_.stamps.push_back(node.stamp);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Lies(const tree::TreeFile& file, const Node& node) {
    if (node.kind != NodeKind::kFile || node.size_bytes != file.digest.size_bytes() ||
        node.is_executable != file.is_executable) {
      return false;
    }
    const auto trusted = input_.trusted.find(file.path);
    if (trusted != input_.trusted.end() && trusted->second.digest == file.digest &&
        trusted->second.stamp == node.stamp)
      return true;
    return sandbox_.Holds(file.path, file.digest);
  }

  void NoteFiles() {
    std::vector<std::string> wanted;
    wanted.reserve(input_.wanted.size());
    for (const tree::TreeFile& file : input_.wanted) {
      if (!theirs_.contains(file.path)) wanted.push_back(file.path);
    }
    if (!plan_.writes.empty() || !plan_.removals.empty()) {
      const auto is_planned = [&](const std::string& path) {
        return std::binary_search(
            plan_.planned.begin(), plan_.planned.end(), path,
            [](const auto& a, const auto& b) { return PathOf(a) < PathOf(b); });
      };
      std::vector<std::string> there;
      std::remove_copy_if(wanted.begin(), wanted.end(), std::back_inserter(there), is_planned);
      plan_.files_meanwhile = Union(input_.known, there);
    }
    if (input_.by_the_book) {
      plan_.files = std::move(wanted);
      return;
    }
    std::vector<std::string> beside;
    for (const std::string& path : input_.known) {
      if (!IsWanted(path) && !doomed_.contains(path) && !MakesRoom(path)) beside.push_back(path);
    }
    plan_.files = Union(beside, wanted);
  }

  // Returns true when the tree has a folder at `path`, or a file at a folder above it.
  bool MakesRoom(std::string_view path) const {
    if (plan_.folders.contains(path)) return true;
    for (size_t end = path.rfind('/'); end != std::string_view::npos && end > 0;
         end = path.rfind('/', end - 1)) {
      if (IsWanted(path.substr(0, end))) return true;
    }
    return false;
  }

  Sandbox& sandbox_;
  PlanInput input_;
  absl::flat_hash_set<std::string_view> packages_beside_;  // of input_
  PathSet doomed_;                                         // outputs of failed packages
  PathSet theirs_;                    // somebody's files with the very bytes that are wanted there
  size_t blocked_count_ = 0;          // somebody's files where another file is wanted
  std::vector<std::string> blocked_;  // first such files, at most kForeignNamedMax
  std::string first_blocked_;         // the file that is wanted at the place of the first
  Plan plan_;
};

}  // namespace

std::string NameWithPackage(std::string_view path,
                            const std::function<std::string(std::string_view path)>& package_of) {
  const std::string package = package_of == nullptr ? std::string() : package_of(path);
  return package.empty() ? std::string(path) : fmt::format("{} of {}", path, package);
}

absl::Status CheckInterrupted(const std::atomic<bool>* interrupted) {
  if (interrupted != nullptr && interrupted->load())
    return absl::CancelledError("staging was interrupted");
  return absl::OkStatus();
}

absl::StatusOr<Plan> MakePlan(Sandbox& sandbox, PlanInput input) {
  return Planner(sandbox, std::move(input)).Make();
}

}  // namespace galley::director
