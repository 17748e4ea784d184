#include "common/vfs/tree_difference.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "common/vfs/folder.h"

namespace galley::vfs {
namespace {

constexpr size_t kFolderDepthMax = 512;
constexpr int kNodeLevels = 2;  // <2 hex>/<2 hex> above the nodes

struct ReadEntry {
  FolderEntry::Kind kind = FolderEntry::Kind::kFile;
  BlobId blob;
  std::string target;
  bool operator==(const ReadEntry&) const = default;
};
using ReadEntries = std::map<std::string, ReadEntry, std::less<>>;
using FolderId = std::optional<BlobId>;  // nullopt: the tree has no such folder

// "../../resource/<2 hex>/<2 hex>/<64 hex>/name" -> the 64 hex; empty: it leads elsewhere.
std::string_view NodeOf(std::string_view target) {
  constexpr size_t kNodeAt = std::string_view("resource/ab/cd/").size();
  while (target.starts_with("../")) target.remove_prefix(3);
  if (!target.starts_with("resource/") || target.size() < kNodeAt) return {};
  target.remove_prefix(kNodeAt);
  return target.substr(0, target.find('/'));
}

FolderId FolderIn(const ReadEntries& entries, std::string_view name) {
  const auto found = entries.find(name);
  const bool is_folder = found != entries.end() && found->second.kind == FolderEntry::Kind::kFolder;
  return is_folder ? FolderId(found->second.blob) : std::nullopt;
}

// TreeComparison: one call of DiffTrees.
class TreeComparison {
 public:
  TreeComparison(const ReadFolder& read, const std::function<bool(const PathDifference&)>& tell)
      : read_(read), tell_(tell) {}

  Outcome Run(const BlobId& before, const BlobId& after) {
    ReadEntries old_root, new_root;
    if (Outcome failed = Read(before, old_root)) return failed;
    if (Outcome failed = Read(after, new_root)) return failed;
    if (Outcome failed =
            CompareNodes(FolderIn(old_root, "resource"), FolderIn(new_root, "resource"), 0))
      return failed;
    return CompareFolders("", FolderIn(old_root, "static"), FolderIn(new_root, "static"), 0);
  }

 private:
  Outcome Read(const FolderId& folder, ReadEntries& entries) const {
    if (!folder) return std::nullopt;
    const Result<FolderBytes> bytes = read_(*folder);
    if (!bytes.ok()) return bytes.fault();
    const bool is_folder = ForEachEntry(*bytes, [&](const FolderEntry& entry) {
      entries.insert_or_assign(
          std::string(entry.name),
          ReadEntry{.kind = entry.kind, .blob = entry.blob, .target = std::string(entry.target)});
      return true;
    });
    if (is_folder) return std::nullopt;
    return Fault{GALLEY_VFS_DAMAGED, "a folder of the tree cannot be read"};
  }

  // Calls `act` with the name and both entries, of which one may be nullptr, by name.
  template <typename Act>
  static Outcome ForBoth(const ReadEntries& before, const ReadEntries& after, const Act& act) {
    auto old_at = before.begin();
    auto new_at = after.begin();
    while (old_at != before.end() || new_at != after.end()) {
      const bool has_old =
          old_at != before.end() && (new_at == after.end() || old_at->first <= new_at->first);
      const bool has_new =
          new_at != after.end() && (old_at == before.end() || new_at->first <= old_at->first);
      const std::string& name = has_old ? old_at->first : new_at->first;
      if (Outcome failed =
              act(name, has_old ? &old_at->second : nullptr, has_new ? &new_at->second : nullptr))
        return failed;
      if (has_old) ++old_at;
      if (has_new) ++new_at;
    }
    return std::nullopt;
  }

  static FolderId AsFolder(const ReadEntry* entry) {
    const bool is_folder = entry != nullptr && entry->kind == FolderEntry::Kind::kFolder;
    return is_folder ? FolderId(entry->blob) : std::nullopt;
  }

  Outcome CompareNodes(const FolderId& before, const FolderId& after, int level) {
    if (before == after) return std::nullopt;
    ReadEntries old_entries, new_entries;
    if (Outcome failed = Read(before, old_entries)) return failed;
    if (Outcome failed = Read(after, new_entries)) return failed;
    return ForBoth(old_entries, new_entries,
                   [&](const std::string& name, const ReadEntry* was, const ReadEntry* is) {
                     if (level < kNodeLevels)
                       return CompareNodes(AsFolder(was), AsFolder(is), level + 1);
                     const bool is_equal = was != nullptr && is != nullptr && *was == *is;
                     if (!is_equal)
                       nodes_[name] = is == nullptr ? GALLEY_VFS_STALE : GALLEY_VFS_MODIFIED;
                     return Outcome();
                   });
  }

  Outcome CompareFolders(const std::string& path, const FolderId& before, const FolderId& after,
                         size_t depth) {
    if (before == after && nodes_.empty()) return std::nullopt;
    if (depth > kFolderDepthMax) return Fault{GALLEY_VFS_DAMAGED, "the tree is too deep"};
    ReadEntries old_entries, new_entries;
    if (Outcome failed = Read(after, new_entries)) return failed;
    if (before != after) {
      if (Outcome failed = Read(before, old_entries)) return failed;
    }
    return ForBoth(before == after ? new_entries : old_entries, new_entries,
                   [&](const std::string& name, const ReadEntry* was, const ReadEntry* is) {
                     const std::string below = path.empty() ? name : path + "/" + name;
                     return CompareEntries(below, was, is, depth);
                   });
  }

  Outcome CompareEntries(const std::string& path, const ReadEntry* was, const ReadEntry* is,
                         size_t depth) {
    const FolderId old_folder = AsFolder(was), new_folder = AsFolder(is);
    if (was != nullptr && !old_folder && (is == nullptr || new_folder)) {
      if (Outcome stopped = Tell(GALLEY_VFS_REMOVED, path)) return stopped;
    }
    if (old_folder || new_folder) {
      if (Outcome failed = CompareFolders(path, old_folder, new_folder, depth + 1)) return failed;
    }
    if (is == nullptr || new_folder) return std::nullopt;
    if (was == nullptr || old_folder) return Tell(GALLEY_VFS_ADDED, path);
    if (*was != *is) return Tell(GALLEY_VFS_MODIFIED, path);
    const auto node = nodes_.find(NodeOf(is->target));
    return node == nodes_.end() ? std::nullopt : Tell(node->second, path);
  }

  Outcome Tell(int kind, const std::string& path) const {
    if (tell_({.kind = kind, .path = path})) return std::nullopt;
    return Fault{kStopped, ""};
  }

  const ReadFolder& read_;
  const std::function<bool(const PathDifference&)>& tell_;
  std::map<std::string, int, std::less<>> nodes_;  // that differ: MODIFIED or STALE
};

}  // namespace

Outcome DiffTrees(const BlobId& before, const BlobId& after, const ReadFolder& read,
                  const std::function<bool(const PathDifference&)>& tell) {
  if (before == after) return std::nullopt;
  Outcome failed = TreeComparison(read, tell).Run(before, after);
  if (failed && failed->code == kStopped) return std::nullopt;
  return failed;
}

}  // namespace galley::vfs
