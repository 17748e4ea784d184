#include "director/stage/checkout.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/tree/find_path.h"
#include "common/tree/linked_tree.h"
#include "common/tree/tree.h"
#include "director/stage/apply_names.h"
#include "director/stage/plan.h"
#include "director/stage/write_files.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint64_t kCheckoutMarkerBytesMax = 4096;

std::string CheckoutMarker(const Digest& root) { return root.ToString() + "\n"; }

// Entries: a tree by the paths of its files, links and folders.
struct Entries {
  std::map<std::string, Digest> files;
  std::map<std::string, std::string> links;  // their targets
  PathSet folders;
};

void AddFoldersAbove(const std::string& path, PathSet& folders) {
  for (size_t end = path.rfind('/'); end != std::string::npos && end > 0;
       end = path.rfind('/', end - 1)) {
    if (!folders.insert(path.substr(0, end)).second) return;
  }
}

Entries EntriesOf(const tree::LinkedTree& tree) {
  Entries entries;
  for (const tree::TreeFile& file : tree.files) {
    entries.files.emplace(file.path, file.digest);
    AddFoldersAbove(file.path, entries.folders);
  }
  for (const tree::TreeLink& link : tree.links) {
    entries.links.emplace(link.path, link.target);
    AddFoldersAbove(link.path, entries.folders);
  }
  return entries;
}

absl::StatusOr<bool> IsLinkOf(Sandbox& sandbox, const std::string& path, const Entries& tree) {
  const auto link = tree.links.find(path);
  if (link == tree.links.end()) return false;
  ASSIGN_OR_RETURN(const std::optional<std::string> target, sandbox.TargetOf(path));
  return target == link->second;
}

// Checks that below `folder`, at any depth, there is nothing but files, links and folders of the
// tree. Files get their names when they are whole: somebody edited a file with other bytes, unless
// a power cut left none of its bytes.
absl::Status CheckOnlyOfTree(Sandbox& sandbox, const std::string& folder, const Entries& tree) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox.Names(folder));
  for (const std::string& name : names) {
    const std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
    if (path == kCheckoutName) continue;
    ASSIGN_OR_RETURN(const Node node, sandbox.Look(path));
    if (const auto file = tree.files.find(path);
        node.kind == NodeKind::kFile && file != tree.files.end()) {
      ASSIGN_OR_RETURN(const bool is_whole, sandbox.Holds(path, file->second));
      if (is_whole) continue;
      ASSIGN_OR_RETURN(const bool is_blank, sandbox.IsBlank(path, file->second.size_bytes()));
      if (is_blank) continue;
    }
    if (node.kind == NodeKind::kFolder && tree.folders.contains(path)) {
      RETURN_IF_ERROR(CheckOnlyOfTree(sandbox, path, tree));
      continue;
    }
    ASSIGN_OR_RETURN(const bool is_link, IsLinkOf(sandbox, path, tree));
    if (is_link) continue;
    return FailedPreconditionError(
        "{} is not of the tree whose checkout was cut off here, or was changed since: move it "
        "away, or name another folder",
        EscapeControl(sandbox.Full(path)));
  }
  return absl::OkStatus();
}

// Removes what a checkout of the same root left when it was cut off.
absl::Status ClearForCheckout(Sandbox& sandbox, const std::string& directory, const Digest& root,
                              const tree::LinkedTree& tree) {
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
  const Entries entries = EntriesOf(tree);
  RETURN_IF_ERROR(CheckOnlyOfTree(sandbox, "", entries));
  for (const auto& [file, digest] : entries.files) RETURN_IF_ERROR(sandbox.RemoveFile(file));
  for (const auto& [link, target] : entries.links) RETURN_IF_ERROR(sandbox.RemoveFile(link));
  return absl::OkStatus();
}

absl::StatusOr<tree::LinkedTree> ListEntries(store::Store& store, const Digest& root,
                                             const std::atomic<bool>* interrupted) {
  absl::StatusOr<tree::LinkedTree> tree =
      tree::ListLinkedTree(root, [&](const Digest& digest) -> absl::StatusOr<Blob> {
        RETURN_IF_ERROR(CheckInterrupted(interrupted));
        return store.Get(digest);
      });
  if (!tree.ok() && !absl::IsCancelled(tree.status()))
    return Annotate(tree.status(), fmt::format("reading the tree {}", root.ToString()));
  return tree;
}

// A link whose folders above are real ones, and which goes up at its beginning only, stays in the
// tree wherever the links behind it lead.
absl::Status CheckLinks(const std::vector<tree::TreeLink>& links) {
  for (const tree::TreeLink& link : links)
    RETURN_IF_ERROR(tree::ResolveLink(link.path, link.target).status());
  return absl::OkStatus();
}

absl::StatusOr<StageReport> LayOutFiles(store::Store& store,
                                        const std::vector<tree::TreeFile>& files, Sandbox& sandbox,
                                        const CheckoutOptions& options) {
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

absl::StatusOr<StageReport> LayOut(store::Store& store, const tree::LinkedTree& tree,
                                   Sandbox& sandbox, const CheckoutOptions& options) {
  ASSIGN_OR_RETURN(StageReport report, LayOutFiles(store, tree.files, sandbox, options));
  for (const tree::TreeLink& link : tree.links) {
    RETURN_IF_ERROR(sandbox.MakeSymbolicLink(link.target, link.path));
    ++report.symbolic_links;
  }
  return report;
}

// Whether a file or link has the path, or lies below it.
bool HasAtTop(const tree::LinkedTree& tree, std::string_view name) {
  const auto is_there = [&](const auto& entry) {
    return entry.path.substr(0, entry.path.find('/')) == name;
  };
  return std::ranges::any_of(tree.files, is_there) || std::ranges::any_of(tree.links, is_there);
}

}  // namespace

absl::StatusOr<StageReport> Checkout(store::Store& store, const Digest& root,
                                     const std::string& directory, const CheckoutOptions& options) {
  const absl::StatusOr<tree::LinkedTree> tree = ListEntries(store, root, options.interrupted);
  absl::Status begun = tree.status();
  if (begun.ok()) begun = CheckLinks(tree->links);
  if (begun.ok()) begun = CheckPresent(store, tree->files, options.interrupted);
  if (begun.ok()) begun = CheckInterrupted(options.interrupted);
  if (absl::IsCancelled(begun)) return absl::CancelledError("interrupted: nothing was laid out");
  RETURN_IF_ERROR(begun);
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(directory));
  sandbox.StopOn(options.interrupted);
  ASSIGN_OR_RETURN(const FileDescriptor lock, LockFolder(directory));
  if (const absl::Status cleared = ClearForCheckout(sandbox, directory, root, *tree);
      !cleared.ok()) {
    if (!absl::IsCancelled(cleared)) return cleared;
    return CancelledError(
        "interrupted: {} is still held by a checkout that was cut off; the same "
        "command lays it out anew",
        directory);
  }
  // A tree that has this name itself is checked out without the marker.
  const bool is_marked = !HasAtTop(*tree, kCheckoutName);
  if (is_marked) RETURN_IF_ERROR(sandbox.Write(kCheckoutName, CheckoutMarker(root), false));
  absl::StatusOr<StageReport> report = LayOut(store, *tree, sandbox, options);
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
