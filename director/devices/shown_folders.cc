#include "director/devices/shown_folders.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::devices {
namespace {

// The node with this name in a list that is sorted by name; nullptr: there is none.
template <typename Node>
const Node* NodeNamed(const std::vector<Node>& nodes, std::string_view name) {
  const auto at = std::ranges::lower_bound(nodes, name, std::less<>(), &Node::name);
  return at == nodes.end() || at->name != name ? nullptr : &*at;
}

}  // namespace

absl::StatusOr<ShownFolders::Folder*> ShownFolders::FolderOf(const Digest& digest) {
  std::unique_ptr<Folder>& folder = folders_[digest];
  if (folder != nullptr) return folder.get();
  auto fresh = std::make_unique<Folder>();
  if (digest != Digest()) {
    ASSIGN_OR_RETURN(const Blob bytes, read_(digest));
    ASSIGN_OR_RETURN(fresh->directory, tree::DecodeLinkedDirectory(*bytes));
  }
  folder = std::move(fresh);
  return folder.get();
}

absl::StatusOr<ShownFolders::Folder*> ShownFolders::FoldedFolderOf(const Digest& digest) {
  ASSIGN_OR_RETURN(Folder* const folder, FolderOf(digest));
  if (std::exchange(folder->is_folded, true)) return folder;
  const tree::LinkedDirectory& directory = folder->directory;
  for (const tree::FileNode& file : directory.files)
    folder->files_and_links.emplace(fold_(file.name), file.name);
  for (const tree::LinkNode& link : directory.links)
    folder->files_and_links.emplace(fold_(link.name), link.name);
  for (size_t i = 0; i < directory.directories.size(); ++i)
    folder->folders.emplace(fold_(directory.directories[i].name), i);
  return folder;
}

absl::StatusOr<const tree::LinkedDirectory*> ShownFolders::Read(const Digest& digest) {
  ASSIGN_OR_RETURN(Folder* const folder, FolderOf(digest));
  return &folder->directory;
}

absl::StatusOr<StaticEntry> ShownFolders::EntryOf(const tree::LinkedDirectory& folder,
                                                  const std::string& folder_path,
                                                  std::string_view name) const {
  std::string path = folder_path + std::string(name);
  if (const tree::FileNode* file = NodeNamed(folder.files, name)) {
    return StaticEntry{std::move(path), StaticFile{file->digest, file->is_executable}};
  }
  const tree::LinkNode* const link = NodeNamed(folder.links, name);
  if (link == nullptr) return NotFoundError("static has no entry {}", path);
  const std::optional<LinkEnd> end = ParseLinkTarget(path, link->target);
  if (!end) return DataLossError("static: the link {} leads to no node: {}", path, link->target);
  const bool is_more = IsNamedMore(name) && !outputs_named_more_.contains(path);
  return StaticEntry{std::move(path), StaticLink{.end = *end, .is_more = is_more}};
}

absl::Status ShownFolders::Find(std::string_view folded, size_t below_max,
                                std::vector<Seen>& found) {
  Search search{.rest = folded, .below_left = below_max, .found = found};
  return FindIn(root_, "", search);
}

absl::Status ShownFolders::FindIn(const Digest& digest, const std::string& folder_path,
                                  Search& search) {
  ASSIGN_OR_RETURN(Folder* const folder, FoldedFolderOf(digest));
  const std::string_view all = search.rest;
  const size_t slash = all.find('/');
  const std::string name(all.substr(0, slash));
  const bool is_last = slash == std::string_view::npos;
  const auto entries = folder->files_and_links.equal_range(name);
  for (auto at = entries.first; at != entries.second; ++at) {
    ASSIGN_OR_RETURN(StaticEntry entry, EntryOf(folder->directory, folder_path, at->second));
    search.found.push_back({std::move(entry), is_last ? Place::kEqual : Place::kAbove});
  }
  const auto below = folder->folders.equal_range(name);
  for (auto at = below.first; at != below.second; ++at) {
    const tree::DirectoryNode& node = folder->directory.directories[at->second];
    const std::string path = folder_path + node.name + "/";
    if (is_last) {
      RETURN_IF_ERROR(ListBelow(node.digest, path, search));
      continue;
    }
    search.rest = all.substr(slash + 1);
    RETURN_IF_ERROR(FindIn(node.digest, path, search));
    search.rest = all;
  }
  return absl::OkStatus();
}

absl::Status ShownFolders::ListBelow(const Digest& digest, const std::string& folder_path,
                                     Search& search) {
  if (search.below_left == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(Folder* const folder, FolderOf(digest));
  const tree::LinkedDirectory& directory = folder->directory;
  std::vector<std::string_view> names;
  for (const tree::FileNode& file : directory.files) names.push_back(file.name);
  for (const tree::LinkNode& link : directory.links) names.push_back(link.name);
  for (const std::string_view name : names) {
    if (search.below_left == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(StaticEntry entry, EntryOf(directory, folder_path, name));
    search.found.push_back({std::move(entry), Place::kBelow});
    --search.below_left;
  }
  for (const tree::DirectoryNode& node : directory.directories) {
    RETURN_IF_ERROR(ListBelow(node.digest, folder_path + node.name + "/", search));
  }
  return absl::OkStatus();
}

}  // namespace galley::devices
