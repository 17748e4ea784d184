#include <algorithm>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/tree/folder_reader.h"
#include "common/tree/linked_tree.h"
#include "common/tree/tree.h"

namespace galley::tree {
namespace {

// Reads the folders of one or two trees; counts what is found, since a small tree of shared folders
// can name very many files.
class Reader {
 public:
  Reader(const ReadBlob& read, Links links, size_t files_max)
      : folders_(read, links), files_max_(files_max) {}

  absl::StatusOr<LinkedDirectory> Read(const Digest& digest, std::string_view path,
                                       size_t depth) const {
    return folders_.Read(digest, path, depth);
  }

  absl::Status Count() {
    if (++files_ <= files_max_) return absl::OkStatus();
    return ResourceExhaustedError("more than {} files", files_max_);
  }

 private:
  const FolderReader folders_;
  const size_t files_max_;
  size_t files_ = 0;
};

TreeFile At(std::string_view folder, const FileNode& node) {
  return {JoinTreePath(folder, node.name), node.digest, node.is_executable};
}

TreeLink At(std::string_view folder, const LinkNode& node) {
  return {JoinTreePath(folder, node.name), node.target};
}

absl::Status List(Reader& reader, const Digest& digest, const std::string& path, size_t depth,
                  LinkedTree& found) {
  ASSIGN_OR_RETURN(const LinkedDirectory directory, reader.Read(digest, path, depth));
  for (const FileNode& file : directory.files) {
    RETURN_IF_ERROR(reader.Count());
    found.files.push_back(At(path, file));
  }
  for (const LinkNode& link : directory.links) {
    RETURN_IF_ERROR(reader.Count());
    found.links.push_back(At(path, link));
  }
  for (const DirectoryNode& folder : directory.directories) {
    RETURN_IF_ERROR(List(reader, folder.digest, JoinTreePath(path, folder.name), depth + 1, found));
  }
  return absl::OkStatus();
}

void SortByPath(auto& entries) {
  std::ranges::sort(entries, [](const auto& a, const auto& b) { return a.path < b.path; });
}

void SortByPathNow(auto& differences) {
  std::ranges::sort(differences, [](const auto& a, const auto& b) { return a.path() < b.path(); });
}

absl::StatusOr<LinkedTree> ListAll(const Digest& root, const ReadBlob& read, Links links,
                                   size_t files_max) {
  Reader reader(read, links, files_max);
  LinkedTree found;
  RETURN_IF_ERROR(List(reader, root, "", 1, found));
  SortByPath(found.files);
  SortByPath(found.links);
  return found;
}

// Walks two trees side by side. Files, folders and links are merged apart: a file that became a
// folder is one removal and additions.
class Differ {
 public:
  Differ(const ReadBlob& read, Links links, LinkedDifferences& found)
      : reader_(read, links, kTreeFilesMax), found_(found) {}

  absl::Status Compare(const Digest& before, const Digest& after, const std::string& path,
                       size_t depth) {
    if (before == after) return absl::OkStatus();
    ASSIGN_OR_RETURN(const LinkedDirectory old, reader_.Read(before, path, depth));
    ASSIGN_OR_RETURN(const LinkedDirectory now, reader_.Read(after, path, depth));
    RETURN_IF_ERROR(MergeEntries(old.files, now.files, path));
    RETURN_IF_ERROR(MergeEntries(old.links, now.links, path));
    return Merge(
        old.directories, now.directories,
        [&](const DirectoryNode& a) {
          return Whole(a.digest, JoinTreePath(path, a.name), depth + 1,
                       [this](auto entry) { this->Gone(std::move(entry)); });
        },
        [&](const DirectoryNode& b) {
          return Whole(b.digest, JoinTreePath(path, b.name), depth + 1,
                       [this](auto entry) { this->Came(std::move(entry)); });
        },
        [&](const DirectoryNode& a, const DirectoryNode& b) {
          return Compare(a.digest, b.digest, JoinTreePath(path, a.name), depth + 1);
        });
  }

 private:
  // Both lists are sorted by name, without duplicates.
  template <typename Node>
  static absl::Status Merge(const std::vector<Node>& before, const std::vector<Node>& after,
                            const auto& only_before, const auto& only_after, const auto& both) {
    auto a = before.begin();
    auto b = after.begin();
    while (a != before.end() || b != after.end()) {
      if (b == after.end() || (a != before.end() && a->name < b->name)) {
        RETURN_IF_ERROR(only_before(*a++));
      } else if (a == before.end() || b->name < a->name) {
        RETURN_IF_ERROR(only_after(*b++));
      } else {
        RETURN_IF_ERROR(both(*a++, *b++));
      }
    }
    return absl::OkStatus();
  }

  // The files of a folder, or its links.
  template <typename Node>
  absl::Status MergeEntries(const std::vector<Node>& before, const std::vector<Node>& after,
                            const std::string& path) {
    return Merge(
        before, after,
        [&](const Node& a) {
          Gone(At(path, a));
          return absl::OkStatus();
        },
        [&](const Node& b) {
          Came(At(path, b));
          return absl::OkStatus();
        },
        [&](const Node& a, const Node& b) {
          return a == b ? absl::OkStatus() : Changed(At(path, a), At(path, b));
        });
  }

  absl::Status Whole(const Digest& digest, const std::string& path, size_t depth,
                     const auto& report) {
    LinkedTree found;
    RETURN_IF_ERROR(List(reader_, digest, path, depth, found));
    for (TreeFile& file : found.files) report(std::move(file));
    for (TreeLink& link : found.links) report(std::move(link));
    return absl::OkStatus();
  }

  std::vector<Difference>& FoundFor(const TreeFile&) { return found_.files; }
  std::vector<LinkDifference>& FoundFor(const TreeLink&) { return found_.links; }

  template <typename Entry>
  void Gone(Entry entry) {
    FoundFor(entry).push_back({Difference::Kind::kRemoved, std::move(entry), {}});
  }
  template <typename Entry>
  void Came(Entry entry) {
    FoundFor(entry).push_back({Difference::Kind::kAdded, {}, std::move(entry)});
  }
  template <typename Entry>
  absl::Status Changed(Entry before, Entry after) {
    RETURN_IF_ERROR(reader_.Count());
    FoundFor(before).push_back({Difference::Kind::kChanged, std::move(before), std::move(after)});
    return absl::OkStatus();
  }

  Reader reader_;
  LinkedDifferences& found_;
};

absl::StatusOr<LinkedDifferences> DiffAll(const Digest& before, const Digest& after,
                                          const ReadBlob& read, Links links) {
  LinkedDifferences found;
  RETURN_IF_ERROR(Differ(read, links, found).Compare(before, after, "", 1));
  SortByPathNow(found.files);
  SortByPathNow(found.links);
  return found;
}

}  // namespace

absl::StatusOr<std::vector<TreeFile>> ListTree(const Digest& root, const ReadBlob& read) {
  ASSIGN_OR_RETURN(LinkedTree found, ListAll(root, read, Links::kRefused, kTreeFilesMax));
  return std::move(found.files);
}

absl::StatusOr<LinkedTree> ListLinkedTree(const Digest& root, const ReadBlob& read,
                                          size_t entries_max) {
  return ListAll(root, read, Links::kAllowed, entries_max);
}

absl::StatusOr<std::vector<Difference>> DiffTrees(const Digest& before, const Digest& after,
                                                  const ReadBlob& read) {
  ASSIGN_OR_RETURN(LinkedDifferences found, DiffAll(before, after, read, Links::kRefused));
  return std::move(found.files);
}

absl::StatusOr<LinkedDifferences> DiffLinkedTrees(const Digest& before, const Digest& after,
                                                  const ReadBlob& read) {
  return DiffAll(before, after, read, Links::kAllowed);
}

}  // namespace galley::tree
