#include "director/resident/root_difference.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/store/interface/action_result.h"
#include "common/vfs/folder.h"
#include "common/vfs/folder_cache.h"
#include "common/vfs/session_tree.h"
#include "common/vfs/tree_difference.h"
#include "director/resident/store_answers.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Most paths that differ lie in the same few folders of `static`, and in any of `resource`.
constexpr size_t kFoldersBytesMax = 64 << 20;

vfs::BlobId BlobIdOf(const Digest& digest) {
  vfs::BlobId blob{.size = digest.size_bytes()};
  std::memcpy(blob.hash.data(), digest.hash().data(), blob.hash.size());
  return blob;
}

// A text that BlobId writes is one of Digest.
Digest DigestOf(const vfs::BlobId& blob) { return Digest::Parse(blob.ToText()).value(); }

// RootComparison: one call of CompareRoots.
class RootComparison {
 public:
  RootComparison(const tree::ReadBlob& read, const Cancellation& stop)
      : read_(
            [this, &read, &stop](const vfs::BlobId& folder) { return Read(folder, read, stop); }) {}

  DifferenceAnswer Run(const Digest& older, const Digest& newer, size_t paths_max) {
    const vfs::BlobId before = BlobIdOf(older), after = BlobIdOf(newer);
    for (const vfs::BlobId& root : {before, after}) {
      if (auto refusal = CheckRoot(root)) return *std::move(refusal);
    }
    const vfs::SessionTree tree(after, read_);
    RootDifference difference;
    size_t paths = 0;
    vfs::Outcome failed;
    const auto take = [&](const vfs::PathDifference& one) {
      difference.is_cut = paths == paths_max;
      if (difference.is_cut) return false;
      ++paths;
      failed = Take(one, tree, difference);
      return !failed;
    };
    const vfs::Outcome ended = vfs::DiffTrees(before, after, read_, take);
    if (!failed) failed = ended;
    if (failed) return RefusalOfFault(*failed);
    if (difference.is_cut) return RootDifference{.is_cut = true};
    std::ranges::sort(difference.added, {}, &devices::ChangedPath::path);
    std::ranges::sort(difference.modified, {}, &devices::ChangedPath::path);
    std::ranges::sort(difference.removed);
    std::ranges::sort(difference.stale);
    return difference;
  }

 private:
  vfs::Result<vfs::FolderBytes> Read(const vfs::BlobId& folder, const tree::ReadBlob& read,
                                     const Cancellation& stop) {
    using Bytes = vfs::Result<vfs::FolderBytes>;
    if (stop.is_cancelled()) return Bytes(vfs::Fault{GALLEY_VFS_CANCELLED, "nobody waits"});
    if (const std::optional<vfs::FolderBytes> held = folders_.Find(folder)) return Bytes(*held);
    if (folder.size > store::kFolderBytesMax)
      return Bytes(vfs::Fault{GALLEY_VFS_DAMAGED, "it is too large for a folder"});
    const absl::StatusOr<Blob> blob = read(DigestOf(folder));
    if (absl::IsNotFound(blob.status())) return Bytes(vfs::Fault{vfs::kNotCached, ""});
    if (!blob.ok()) {
      read_error_ = blob.status();
      return Bytes(vfs::Fault{GALLEY_VFS_IO, ""});
    }
    const vfs::FolderBytes bytes{std::string(**blob)};
    folders_.Put(folder, bytes);
    return Bytes(bytes);
  }

  // nullopt: the root is that of a session.
  std::optional<DeviceRefusal> CheckRoot(const vfs::BlobId& root) const {
    const vfs::Result<vfs::FolderBytes> bytes = read_(root);
    if (!bytes.ok()) return RefusalOfFault(bytes.fault());
    if (vfs::FindEntry(*bytes, "static").entry) return std::nullopt;
    return Absent(fmt::format("{} is no root of a session", root.ToText()));
  }

  DeviceRefusal RefusalOfFault(const vfs::Fault& fault) const {
    if (!read_error_.ok()) return RefusalOf(read_error_);
    if (fault.code == GALLEY_VFS_CANCELLED) return NotReady(fault.text);
    if (fault.code == vfs::kNotCached)
      return {.kind = RefusalKind::kGone,
              .text = "one of the roots was collected, or never was here"};
    return Absent("one of the roots is none of a session: " + fault.text);
  }

  vfs::Outcome Take(const vfs::PathDifference& one, const vfs::SessionTree& tree,
                    RootDifference& into) const {
    if (one.kind == GALLEY_VFS_REMOVED) {
      into.removed.push_back(one.path);
    } else if (one.kind == GALLEY_VFS_STALE) {
      into.stale.push_back(one.path);
    } else {
      const vfs::Result<vfs::ShownPath> found = tree.Find(one.path);
      if (!found.ok()) return found.fault();
      devices::ChangedPath changed{.path = one.path};
      if (const auto* const file = std::get_if<vfs::FileAt>(&*found))
        changed.after = DigestOf(file->blob);
      (one.kind == GALLEY_VFS_ADDED ? into.added : into.modified).push_back(std::move(changed));
    }
    return std::nullopt;
  }

  vfs::FolderCache folders_{kFoldersBytesMax};
  absl::Status read_error_;  // the store's, which is no answer about the roots
  const vfs::ReadFolder read_;
};

}  // namespace

DifferenceAnswer CompareRoots(const Digest& older, const Digest& newer, const tree::ReadBlob& read,
                              const Cancellation& stop, size_t paths_max) {
  return RootComparison(read, stop).Run(older, newer, paths_max);
}

}  // namespace galley::director
