#include "director/stage/checkout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/tree/tree.h"
#include "director/stage/apply_names.h"
#include "director/stage/plan.h"
#include "director/stage/write_files.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint64_t kCheckoutMarkerBytesMax = 4096;

std::string CheckoutMarker(const Digest& root) { return root.ToString() + "\n"; }

using FileDigests = std::map<std::string, Digest>;

// Checks that below `folder`, at any depth, there is nothing but files and folders of the tree.
// Files get their names when they are whole: somebody edited a file with other bytes, unless a
// power cut left none of its bytes.
absl::Status CheckOnlyOfTree(Sandbox& sandbox, const std::string& folder, const FileDigests& files,
                             const PathSet& folders) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox.Names(folder));
  for (const std::string& name : names) {
    const std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
    if (path == kCheckoutName) continue;
    ASSIGN_OR_RETURN(const Node node, sandbox.Look(path));
    if (const auto file = files.find(path); node.kind == NodeKind::kFile && file != files.end()) {
      ASSIGN_OR_RETURN(const bool is_whole, sandbox.Holds(path, file->second));
      if (is_whole) continue;
      ASSIGN_OR_RETURN(const bool is_blank, sandbox.IsBlank(path, file->second.size_bytes()));
      if (is_blank) continue;
    }
    if (node.kind == NodeKind::kFolder && folders.contains(path)) {
      RETURN_IF_ERROR(CheckOnlyOfTree(sandbox, path, files, folders));
      continue;
    }
    return FailedPreconditionError(
        "{} is not of the tree whose checkout was cut off here, or was changed since: move it "
        "away, or name another folder",
        EscapeControl(sandbox.Full(path)));
  }
  return absl::OkStatus();
}

// Removes what a checkout of the same root left when it was cut off.
absl::Status ClearForCheckout(Sandbox& sandbox, const std::string& directory, const Digest& root,
                              const std::vector<tree::TreeFile>& tree) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox.Names(""));
  if (names.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::optional<std::string> begun,
                   sandbox.Read(kCheckoutName, kCheckoutMarkerBytesMax));
  if (!begun.has_value()) {
    return FailedPreconditionError("{} is not empty (it holds {}): name a new or empty folder",
                                   directory, EscapeControl(names.front()));
  }
  if (*begun != CheckoutMarker(root)) {
    return FailedPreconditionError(
        "{} holds a part of another tree, whose checkout was cut off: check out {} there again, or "
        "remove the folder",
        directory, EscapeControl(begun->substr(0, begun->find('\n'))));
  }
  RETURN_IF_ERROR(sandbox.RemoveTemporaries());
  FileDigests files;
  PathSet folders;
  for (const tree::TreeFile& file : tree) {
    files.emplace(file.path, file.digest);
    for (size_t end = file.path.rfind('/'); end != std::string::npos && end > 0;
         end = file.path.rfind('/', end - 1)) {
      if (!folders.insert(file.path.substr(0, end)).second) break;
    }
  }
  RETURN_IF_ERROR(CheckOnlyOfTree(sandbox, "", files, folders));
  for (const auto& [file, digest] : files) RETURN_IF_ERROR(sandbox.RemoveFile(file));
  return absl::OkStatus();
}

absl::StatusOr<StageReport> LayOut(store::Store& store, const std::vector<tree::TreeFile>& files,
                                   Sandbox& sandbox, const CheckoutOptions& options) {
  StageReport report;
  if (!options.link) {
    RETURN_IF_ERROR(WriteFiles({store}, sandbox, files, options.interrupted, report));
    return report;
  }
  VerifiedFiles own;
  ASSIGN_OR_RETURN(
      const StoreFiles store_files,
      StoreFiles::Find(store, files, options.verified == nullptr ? own : *options.verified,
                       options.clone));
  RETURN_IF_ERROR(WriteFiles({store, &store_files}, sandbox, files, options.interrupted, report));
  return report;
}

}  // namespace

absl::StatusOr<StageReport> Checkout(store::Store& store, const Digest& root,
                                     const std::string& directory, const CheckoutOptions& options) {
  absl::StatusOr<std::vector<tree::TreeFile>> listed = ListFiles(store, root, options.interrupted);
  absl::Status begun = listed.status();
  if (begun.ok()) begun = CheckPresent(store, *listed, options.interrupted);
  if (begun.ok()) begun = CheckInterrupted(options.interrupted);
  if (absl::IsCancelled(begun)) return absl::CancelledError("interrupted: nothing was laid out");
  RETURN_IF_ERROR(begun);
  const std::vector<tree::TreeFile>& files = *listed;
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(directory));
  sandbox.StopOn(options.interrupted);
  ASSIGN_OR_RETURN(const FileDescriptor lock, LockFolder(directory));
  if (const absl::Status cleared = ClearForCheckout(sandbox, directory, root, files);
      !cleared.ok()) {
    if (!absl::IsCancelled(cleared)) return cleared;
    return CancelledError(
        "interrupted: {} is still held by a checkout that was cut off; the same "
        "command lays it out anew",
        directory);
  }
  // A tree that has this name itself is checked out without the marker.
  const bool is_marked = std::ranges::none_of(files, [](const auto& file) {
    return file.path.substr(0, file.path.find('/')) == kCheckoutName;
  });
  if (is_marked) RETURN_IF_ERROR(sandbox.Write(kCheckoutName, CheckoutMarker(root), false));
  absl::StatusOr<StageReport> report = LayOut(store, files, sandbox, options);
  if (absl::IsCancelled(report.status())) {
    return CancelledError(
        "interrupted: {} holds a part of the tree; {}", directory,
        is_marked ? "the same command lays it out anew" : "remove it before you try again");
  }
  sandbox.StopOn(nullptr);  // all files are there
  if (report.ok() && is_marked) RETURN_IF_ERROR(sandbox.RemoveFile(kCheckoutName));
  return report;
}

}  // namespace galley::director
