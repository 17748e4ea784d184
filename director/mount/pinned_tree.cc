#include "director/mount/pinned_tree.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/vfs/folder.h"
#include "common/vfs/tree_path.h"

namespace galley::mount {
namespace {

// The director has no such blob.
vfs::Fault OfRoot(vfs::Fault fault, const vfs::BlobId& root) {
  if (fault.code != vfs::kNotCached) return fault;
  return {GALLEY_VFS_ABSENT, "the director does not have all of the root " + root.ToText() +
                                 "; `galley roots` lists those that it has"};
}

}  // namespace

vfs::Result<std::optional<std::string>> PinnedTree::WorldOfSession() {
  const vfs::Waiting waiting = ground_.BeginCall();
  const vfs::Result<std::string> bytes = blobs_.Read(root_, MayFetch(), waiting);
  if (!bytes.ok()) return OfRoot(bytes.fault(), root_);
  const vfs::Found world = vfs::FindEntry(*bytes, "world");
  if (!world.is_folder) {
    return vfs::Fault{GALLEY_VFS_INVALID,
                      root_.ToText() + " is no root: it is no folder of a tree"};
  }
  const vfs::Found shown = vfs::FindEntry(*bytes, "static");
  const auto is_kind = [](const vfs::Found& found, vfs::FolderEntry::Kind kind) {
    return found.entry && found.entry->kind == kind;
  };
  const bool is_of_session = is_kind(world, vfs::FolderEntry::Kind::kFile) &&
                             is_kind(shown, vfs::FolderEntry::Kind::kFolder);
  if (!is_of_session) return std::optional<std::string>();
  vfs::Result<std::string> text = blobs_.Read(world.entry->blob, MayFetch(), waiting);
  if (!text.ok()) return OfRoot(text.fault(), root_);
  return std::optional(*std::move(text));
}

vfs::Result<vfs::FolderBytes> PinnedTree::ReadFolder(const vfs::BlobId& folder, bool may_fetch,
                                                     const vfs::Waiting& waiting) {
  if (const std::optional<vfs::FolderBytes> held = folders_.Find(folder)) return *held;
  vfs::Result<std::string> read = blobs_.Read(folder, may_fetch, waiting);
  if (!read.ok()) return read.fault();
  const vfs::FolderBytes bytes(*std::move(read));
  folders_.Put(folder, bytes);
  return bytes;
}

vfs::Result<vfs::ShownPath> PinnedTree::Find(const std::string& path, bool may_fetch,
                                             const vfs::Waiting& waiting) {
  const auto read = [&](const vfs::BlobId& folder) {
    return ReadFolder(folder, may_fetch, waiting);
  };
  const vfs::Result<vfs::PathEntry> entry = vfs::FollowPath(root_, path, read);
  if (!entry.ok()) return OfRoot(entry.fault(), root_);
  if (const auto* const file = std::get_if<vfs::FileAt>(&*entry)) return vfs::ShownPath(*file);
  const bool is_folder = std::holds_alternative<vfs::FolderAt>(*entry);
  return is_folder ? vfs::ShownPath(vfs::ShownFolder{}) : vfs::ShownPath(vfs::NothingAt{});
}

vfs::Result<vfs::ShownPath> PinnedTree::LookHere(const std::string& path) {
  vfs::Result<vfs::ShownPath> found = Find(path, /*may_fetch=*/false, ground_.BeginCall());
  if (found.ok() || found.fault().code != GALLEY_VFS_OFFLINE) return found;
  return vfs::Fault{vfs::kNotCached, found.fault().text};
}

vfs::Result<vfs::ShownPath> PinnedTree::Look(const std::string& path,
                                             const std::atomic<bool>& stop) {
  return Find(path, MayFetch(), ground_.BeginCall(&stop));
}

vfs::Result<std::vector<vfs::ShownEntry>> PinnedTree::List(const std::string& path,
                                                           const std::atomic<bool>& stop) {
  const vfs::Waiting waiting = ground_.BeginCall(&stop);
  const auto read = [&](const vfs::BlobId& folder) {
    return ReadFolder(folder, MayFetch(), waiting);
  };
  const vfs::Result<vfs::PathEntry> entry = vfs::FollowPath(root_, path, read);
  if (!entry.ok()) return OfRoot(entry.fault(), root_);
  const auto* const folder = std::get_if<vfs::FolderAt>(&*entry);
  if (folder == nullptr) return vfs::Fault{GALLEY_VFS_ABSENT, "there is no such folder"};
  const vfs::Result<vfs::FolderBytes> bytes = read(folder->blob);
  if (!bytes.ok()) return OfRoot(bytes.fault(), root_);
  std::vector<vfs::ShownEntry> entries;
  const bool is_folder = vfs::ForEachEntry(*bytes, [&](const vfs::FolderEntry& one) {
    const bool is_file = one.kind == vfs::FolderEntry::Kind::kFile;
    entries.push_back({.name = std::string(one.name),
                       .is_folder = one.kind == vfs::FolderEntry::Kind::kFolder,
                       .size = is_file ? static_cast<int64_t>(one.blob.size) : -1});
    return true;
  });
  if (!is_folder) return vfs::Fault{GALLEY_VFS_DAMAGED, "the folder cannot be read"};
  std::ranges::sort(entries, {}, &vfs::ShownEntry::name);
  return entries;
}

vfs::Result<OpenedFile> PinnedTree::Open(const std::string& path, const std::atomic<bool>& stop) {
  const vfs::Result<vfs::ShownPath> found = Look(path, stop);
  if (!found.ok()) return found.fault();
  const auto* const file = std::get_if<vfs::FileAt>(&*found);
  if (file == nullptr) return vfs::Fault{GALLEY_VFS_ABSENT, "there is no such file"};
  vfs::Result<std::shared_ptr<vfs::OpenFile>> opened = OpenBlob(file->blob, stop);
  if (!opened.ok()) return opened.fault();
  return OpenedFile{*std::move(opened), file->blob, file->is_executable};
}

vfs::Result<std::shared_ptr<vfs::OpenFile>> PinnedTree::OpenBlob(const vfs::BlobId& blob,
                                                                 const std::atomic<bool>& stop) {
  const vfs::Waiting waiting = ground_.BeginCall(&stop);
  vfs::Result<std::shared_ptr<vfs::OpenFile>> file = blobs_.Open(blob, MayFetch(), waiting);
  return file.ok() ? std::move(file) : OfRoot(file.fault(), root_);
}

}  // namespace galley::mount
