#include "director/stage/check_stage.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/tree/tree.h"
#include "director/stage/apply_names.h"
#include "director/stage/ledger.h"
#include "director/stage/sandbox.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kDepthMax = 512;

bool IsBusy(const std::string& directory) {
  const FileDescriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.valid() && ::flock(folder.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

class Checker {
 public:
  Checker(Sandbox& sandbox, std::vector<tree::TreeFile> wanted, std::vector<std::string> known,
          StageCheck& check)
      : sandbox_(sandbox), wanted_(std::move(wanted)), known_(std::move(known)), check_(check) {
    std::ranges::sort(wanted_, [](const auto& a, const auto& b) { return a.path < b.path; });
  }

  absl::Status Run() {
    for (const tree::TreeFile& file : wanted_) RETURN_IF_ERROR(CheckFile(file));
    for (const std::string& path : known_) {
      if (IsWanted(path)) continue;
      ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
      if (node.kind == NodeKind::kAbsent) check_.missing.push_back(path);
    }
    std::ranges::sort(check_.missing);
    return FindForeign("", 0);
  }

 private:
  bool IsWanted(const std::string& path) const {
    const auto at = std::lower_bound(wanted_.begin(), wanted_.end(), path,
                                     [](const auto& file, const auto& p) { return file.path < p; });
    return at != wanted_.end() && at->path == path;
  }

  absl::Status CheckFile(const tree::TreeFile& file) {
    ASSIGN_OR_RETURN(const Node node, sandbox_.Look(file.path));
    if (node.kind == NodeKind::kAbsent) {
      check_.missing.push_back(file.path);
      return absl::OkStatus();
    }
    bool is_right = node.kind == NodeKind::kFile && node.is_executable == file.is_executable &&
                    node.size_bytes == file.digest.size_bytes();
    if (is_right) {
      ASSIGN_OR_RETURN(is_right, sandbox_.Holds(file.path, file.digest));
    }
    if (is_right) {
      ++check_.equal;
    } else {
      check_.changed.push_back(file.path);
    }
    return absl::OkStatus();
  }

  absl::Status FindForeign(const std::string& folder, size_t depth) {
    if (depth > kDepthMax) {
      return FailedPreconditionError("{}: more than {} folders deep", sandbox_.Full(folder),
                                     kDepthMax);
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(folder));
    for (const std::string& name : names) {
      const std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
      if (folder.empty() && (IsOwnPath(name) || Sandbox::IsTemporary(name))) continue;
      ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
      if (node.kind == NodeKind::kFolder) {
        if (!IsWanted(path)) RETURN_IF_ERROR(FindForeign(path, depth + 1));
      } else if (!IsWanted(path) && !std::binary_search(known_.begin(), known_.end(), path)) {
        check_.foreign.push_back(path);
      }
    }
    return absl::OkStatus();
  }

  Sandbox& sandbox_;
  std::vector<tree::TreeFile> wanted_;
  const std::vector<std::string> known_;  // sorted
  StageCheck& check_;
};

}  // namespace

absl::StatusOr<StageCheck> CheckStage(store::Store& store, const std::string& directory) {
  StageCheck check;
  const absl::StatusOr<FileStat> stat = StatFile(directory);
  if (absl::IsNotFound(stat.status())) return check;
  RETURN_IF_ERROR(stat.status());
  if (!S_ISDIR(stat->mode)) return FailedPreconditionError("{} is no folder", directory);
  if (IsBusy(directory)) {
    check.state = StageCheck::State::kBusy;
    return check;
  }
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(directory));
  ASSIGN_OR_RETURN(Ledger ledger, ReadLedger(sandbox));
  ASSIGN_OR_RETURN(const Node pending, sandbox.Look(kPendingName));
  if (!ledger.exact.has_value()) {
    const bool is_cut = pending.kind == NodeKind::kFile && ledger.damage.empty();
    // A folder that was claimed and not staged to yet has no root.
    check.state = !is_cut                ? StageCheck::State::kUnknown
                  : ledger.roots.empty() ? StageCheck::State::kAbsent
                                         : StageCheck::State::kInterrupted;
    return check;
  }
  check.state = StageCheck::State::kStaged;
  check.root = ledger.exact;
  const auto files =
      tree::ListTree(*ledger.exact, [&](const Digest& digest) { return store.Get(digest); });
  if (!files.ok())
    return Annotate(files.status(), fmt::format("reading the tree {}", check.root->ToString()));
  RETURN_IF_ERROR(Checker(sandbox, *files, std::move(ledger.files), check).Run());
  return check;
}

}  // namespace galley::director
