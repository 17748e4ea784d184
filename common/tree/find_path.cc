#include "common/tree/find_path.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/tree/folder_reader.h"
#include "common/tree/plain_name.h"

namespace galley::tree {
namespace {

// `nodes` are sorted by name.
template <typename Node>
const Node* FindNode(const std::vector<Node>& nodes, std::string_view name) {
  const auto at = std::ranges::lower_bound(
      nodes, name, {}, [](const Node& node) { return std::string_view(node.name); });
  return at != nodes.end() && at->name == name ? &*at : nullptr;
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// The part of a path to which links led, without its last `asked_bytes` bytes.
std::string_view LinkedPart(std::string_view path, size_t asked_bytes) {
  if (asked_bytes == 0) return path;
  return path.substr(0, path.size() - std::min(path.size(), asked_bytes + 1));
}

FollowedPath FinalEntry(PathEntry entry, bool has_links, size_t asked_bytes) {
  if (auto* const file = std::get_if<TreeFile>(&entry)) return std::move(*file);
  if (auto* const folder = std::get_if<FoundFolder>(&entry)) return std::move(*folder);
  AbsentPath absent = std::get<AbsentPath>(std::move(entry));
  const bool has_target = absent.existing.size() >= LinkedPart(absent.path, asked_bytes).size();
  if (!has_links || has_target) return absent;
  return DanglingLink{std::move(absent.path), std::move(absent.existing)};
}

}  // namespace

absl::StatusOr<PathEntry> FindPath(const Digest& root, std::string_view path,
                                   const ReadBlob& read) {
  if (!path.empty() && !IsPlainPath(path)) {
    return InvalidArgumentError("\"{}\" is not a plain relative path", path);
  }
  const FolderReader reader(read, Links::kAllowed);
  Digest folder = root;
  size_t begin = 0;  // of the name that is searched in `folder`
  for (size_t depth = 1; begin < path.size(); ++depth) {
    const std::string_view parent = path.substr(0, begin == 0 ? 0 : begin - 1);
    ASSIGN_OR_RETURN(const LinkedDirectory directory, reader.Read(folder, parent, depth));
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    const std::string here(path.substr(0, end));
    begin = end + 1;
    if (const FileNode* const file = FindNode(directory.files, name)) {
      if (end != path.size()) return PathEntry(AbsentPath{std::string(path), here});
      return PathEntry(TreeFile{here, file->digest, file->is_executable});
    }
    if (const LinkNode* const link = FindNode(directory.links, name)) {
      const std::string_view rest = end == path.size() ? std::string_view() : path.substr(begin);
      return PathEntry(FoundLink{here, link->target, std::string(rest)});
    }
    const DirectoryNode* const inner = FindNode(directory.directories, name);
    if (inner == nullptr) return PathEntry(AbsentPath{std::string(path), std::string(parent)});
    folder = inner->digest;
  }
  return PathEntry(FoundFolder{std::string(path), folder});
}

absl::StatusOr<FollowedPath> FollowLinks(const Digest& root, std::string_view path,
                                         const ReadBlob& read) {
  std::string at(path);
  // The end of `at` to which no link led. A link in the part before does not change it.
  size_t asked_bytes = path.size();
  for (int links = 0;; ++links) {
    ASSIGN_OR_RETURN(PathEntry entry, FindPath(root, at, read));
    const FoundLink* const link = std::get_if<FoundLink>(&entry);
    if (link == nullptr) return FinalEntry(std::move(entry), links != 0, asked_bytes);
    if (links == kLinksOnPathMax) {
      return InvalidArgumentError("{}: more than {} links on the path", path, kLinksOnPathMax);
    }
    ASSIGN_OR_RETURN(const std::string target, ResolveLink(link->path, link->target));
    asked_bytes = std::min(asked_bytes, link->rest.size());
    at = link->rest.empty() ? target : JoinTreePath(target, link->rest);
  }
}

absl::StatusOr<std::string> ResolveLink(std::string_view link, std::string_view target) {
  std::string_view folder = FolderOf(link);
  std::string_view rest = target;
  while (rest == ".." || rest.starts_with("../")) {
    if (folder.empty()) {
      return InvalidArgumentError("link {} to {} leaves the tree", link, target);
    }
    folder = FolderOf(folder);
    rest.remove_prefix(std::min<size_t>(3, rest.size()));
  }
  return rest.empty() ? std::string(folder) : JoinTreePath(folder, rest);
}

}  // namespace galley::tree
