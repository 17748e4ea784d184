#include "director/stage/plan.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "director/stage/ledger.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Trees are at most 256 deep (tree.h); what is far deeper was not made by us, and each level holds
// a descriptor.
constexpr size_t kDepthMax = 512;

std::string Join(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

bool IsOwnName(std::string_view path) {
  const std::string_view top = path.substr(0, path.find('/'));
  return top == kMarkerName || top == kPendingName;
}

// As record::ValidateSuffix has it: "", ".ext", ".d/<name>".
bool IsSuffix(std::string_view rest) {
  return rest.empty() || (rest.front() == '.' &&
                          (rest.find('/') == std::string_view::npos || rest.starts_with(".d/")));
}

class Planner {
 public:
  Planner(Sandbox& sandbox, PlanInput input) : sandbox_(sandbox), input_(std::move(input)) {}

  absl::StatusOr<Plan> Make() {
    RETURN_IF_ERROR(NoteWanted());
    if (input_.by_the_book) {
      RETURN_IF_ERROR(RemoveUnwanted("", 0));
    } else {
      RETURN_IF_ERROR(RemoveFailed());
    }
    for (const tree::TreeFile& file : input_.wanted) RETURN_IF_ERROR(Place(file));
    if (!input_.by_the_book) NoteBeside();
    return std::move(plan_);
  }

 private:
  absl::Status NoteWanted() {
    std::sort(input_.wanted.begin(), input_.wanted.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    for (const tree::TreeFile& file : input_.wanted) {
      if (IsOwnName(file.path))
        return absl::InvalidArgumentError(
            fmt::format("the tree holds {}, a name of staging's own", file.path));
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

  absl::Status RemoveUnwanted(const std::string& folder, size_t depth) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(folder));
    for (const std::string& name : names) {
      RETURN_IF_ERROR(CheckInterrupted(input_.interrupted));
      const std::string path = Join(folder, name);
      if (folder.empty() && IsOwnName(name)) continue;
      ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
      if (node.kind == NodeKind::kFolder) {
        RETURN_IF_ERROR(plan_.folders.contains(path) ? RemoveUnwanted(path, depth + 1)
                                                     : RemoveFolder(path, depth + 1));
      } else if (!IsWanted(path)) {
        plan_.removals.push_back({path, false});
      }
    }
    return absl::OkStatus();
  }

  // With all that is in it. On a narrow cook only what is ours may go.
  absl::Status RemoveFolder(const std::string& folder, size_t depth) {
    if (depth > kDepthMax) {
      return absl::FailedPreconditionError(
          fmt::format("{}: more than {} folders deep", sandbox_.Full(folder), kDepthMax));
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(folder));
    for (const std::string& name : names) {
      const std::string path = Join(folder, name);
      ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
      if (node.kind == NodeKind::kFolder) {
        RETURN_IF_ERROR(RemoveFolder(path, depth + 1));
      } else if (doomed_.contains(path)) {
        continue;  // stands in the removals already
      } else if (input_.by_the_book || input_.known.contains(path)) {
        plan_.removals.push_back({path, false});
      } else {
        return absl::FailedPreconditionError(
            fmt::format("{} was not put there by Galley, and a cooked file must go where its "
                        "folder is: move it away",
                        sandbox_.Full(path)));
      }
    }
    plan_.removals.push_back({folder, true});
    return absl::OkStatus();
  }

  absl::Status RemoveFailed() {
    for (const std::string& package : input_.failed_packages) {
      for (auto known = input_.known.lower_bound(package);
           known != input_.known.end() && known->starts_with(package); ++known) {
        if (!IsSuffix(std::string_view(*known).substr(package.size())) || IsWanted(*known))
          continue;
        if (!doomed_.insert(*known).second) continue;
        ASSIGN_OR_RETURN(const Node node, sandbox_.Look(*known));
        if (node.kind == NodeKind::kFile || node.kind == NodeKind::kOther)
          plan_.removals.push_back({*known, false});
      }
    }
    return absl::OkStatus();
  }

  absl::Status Place(const tree::TreeFile& file) {
    RETURN_IF_ERROR(CheckInterrupted(input_.interrupted));
    ASSIGN_OR_RETURN(const Node node, sandbox_.Look(file.path));
    if (node.kind == NodeKind::kFolder && !input_.by_the_book)
      RETURN_IF_ERROR(RemoveFolder(file.path, 1));
    ASSIGN_OR_RETURN(const bool is_there, Lies(file, node));
    if (is_there) {
      ++plan_.unchanged;
    } else {
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

  void NoteBeside() {
    for (const std::string& path : input_.known) {
      if (!IsWanted(path) && !doomed_.contains(path) && !MakesRoom(path)) plan_.beside.insert(path);
    }
  }

  // True when the tree has a folder in the place of `path`, or a file in that of a folder above it.
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
  PathSet doomed_;  // outputs of failed packages
  Plan plan_;
};

}  // namespace

absl::Status CheckInterrupted(const std::atomic<bool>* interrupted) {
  if (interrupted != nullptr && interrupted->load())
    return absl::CancelledError("staging was interrupted");
  return absl::OkStatus();
}

absl::StatusOr<Plan> MakePlan(Sandbox& sandbox, PlanInput input) {
  return Planner(sandbox, std::move(input)).Make();
}

}  // namespace galley::director
