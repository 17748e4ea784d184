#include <fmt/format.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/tree/tree.h"

namespace galley::tree {
namespace {

// Reads the folders of one or two trees; counts what is found, since a small tree of shared folders
// can name very many files.
class Reader {
 public:
  explicit Reader(const ReadBlob& read) : read_(read) {}

  absl::StatusOr<Directory> Read(const Digest& digest, std::string_view path, size_t depth) const {
    const std::string what =
        fmt::format("folder {} ({})", path.empty() ? "/" : path, digest.ToString());
    if (depth > kTreeDepthMax) {
      return InvalidArgumentError("{}: more than {} levels deep", what, kTreeDepthMax);
    }
    const absl::StatusOr<Blob> blob = read_(digest);
    if (!blob.ok()) return Annotate(blob.status(), what);
    absl::StatusOr<Directory> directory = DecodeDirectory(**blob);
    if (!directory.ok()) return Annotate(directory.status(), what);
    return directory;
  }

  absl::Status Count() {
    if (++files_ <= kTreeFilesMax) return absl::OkStatus();
    return ResourceExhaustedError("more than {} files", kTreeFilesMax);
  }

 private:
  const ReadBlob& read_;
  size_t files_ = 0;
};

std::string Join(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

TreeFile FileAt(std::string_view folder, const FileNode& node) {
  return {Join(folder, node.name), node.digest, node.is_executable};
}

absl::Status List(Reader& reader, const Digest& digest, const std::string& path, size_t depth,
                  std::vector<TreeFile>& files) {
  ASSIGN_OR_RETURN(const Directory directory, reader.Read(digest, path, depth));
  for (const FileNode& file : directory.files) {
    RETURN_IF_ERROR(reader.Count());
    files.push_back(FileAt(path, file));
  }
  for (const DirectoryNode& folder : directory.directories) {
    RETURN_IF_ERROR(List(reader, folder.digest, Join(path, folder.name), depth + 1, files));
  }
  return absl::OkStatus();
}

// Walks two trees side by side. Files and folders are merged apart: a file that became a folder is
// one removal and additions.
class Differ {
 public:
  Differ(const ReadBlob& read, std::vector<Difference>& found) : reader_(read), found_(found) {}

  absl::Status Compare(const Digest& before, const Digest& after, const std::string& path,
                       size_t depth) {
    if (before == after) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Directory old, reader_.Read(before, path, depth));
    ASSIGN_OR_RETURN(const Directory now, reader_.Read(after, path, depth));
    RETURN_IF_ERROR(Merge(
        old.files, now.files, [&](const FileNode& a) { return Gone(FileAt(path, a)); },
        [&](const FileNode& b) { return Came(FileAt(path, b)); },
        [&](const FileNode& a, const FileNode& b) {
          return a == b ? absl::OkStatus() : Changed(FileAt(path, a), FileAt(path, b));
        }));
    return Merge(
        old.directories, now.directories,
        [&](const DirectoryNode& a) {
          return Whole(a.digest, Join(path, a.name), depth + 1,
                       [&](TreeFile file) { return Gone(std::move(file)); });
        },
        [&](const DirectoryNode& b) {
          return Whole(b.digest, Join(path, b.name), depth + 1,
                       [&](TreeFile file) { return Came(std::move(file)); });
        },
        [&](const DirectoryNode& a, const DirectoryNode& b) {
          return Compare(a.digest, b.digest, Join(path, a.name), depth + 1);
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

  absl::Status Whole(const Digest& digest, const std::string& path, size_t depth,
                     const auto& report) {
    std::vector<TreeFile> files;
    RETURN_IF_ERROR(List(reader_, digest, path, depth, files));
    for (TreeFile& file : files) {
      RETURN_IF_ERROR(report(std::move(file)));
    }
    return absl::OkStatus();
  }

  absl::Status Gone(TreeFile file) {
    found_.push_back({Difference::Kind::kRemoved, std::move(file), {}});
    return absl::OkStatus();
  }
  absl::Status Came(TreeFile file) {
    found_.push_back({Difference::Kind::kAdded, {}, std::move(file)});
    return absl::OkStatus();
  }
  absl::Status Changed(TreeFile before, TreeFile after) {
    RETURN_IF_ERROR(reader_.Count());
    found_.push_back({Difference::Kind::kChanged, std::move(before), std::move(after)});
    return absl::OkStatus();
  }

  Reader reader_;
  std::vector<Difference>& found_;
};

}  // namespace

absl::StatusOr<std::vector<TreeFile>> ListTree(const Digest& root, const ReadBlob& read) {
  Reader reader(read);
  std::vector<TreeFile> files;
  RETURN_IF_ERROR(List(reader, root, "", 1, files));
  std::ranges::sort(files, [](const TreeFile& a, const TreeFile& b) { return a.path < b.path; });
  return files;
}

absl::StatusOr<std::vector<Difference>> DiffTrees(const Digest& before, const Digest& after,
                                                  const ReadBlob& read) {
  std::vector<Difference> found;
  RETURN_IF_ERROR(Differ(read, found).Compare(before, after, "", 1));
  std::ranges::sort(found,
                    [](const Difference& a, const Difference& b) { return a.path() < b.path(); });
  return found;
}

}  // namespace galley::tree
