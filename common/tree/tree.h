// Cooked trees: REAPI v2 Directory messages in canonical form, and their difference. Pure.
//
// Canonical: files, then directories, each sorted by name bytes; no properties, times, links, empty
// folders; is_executable only where true. The digest is of the bytes as received: what is stored is
// never serialised again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/digest.h"

namespace galley::tree {

struct FileNode {
  std::string name;
  Digest digest;
  bool is_executable = false;
  bool operator==(const FileNode&) const = default;
};
struct DirectoryNode {
  std::string name;
  Digest digest;
  bool operator==(const DirectoryNode&) const = default;
};
struct Directory {
  std::vector<FileNode> files;
  std::vector<DirectoryNode> directories;
  bool operator==(const Directory&) const = default;
};

std::string EncodeDirectory(const Directory& directory);
// INVALID_ARGUMENT for anything not canonical: order, duplicates across both lists, names that are
// no single plain segment, unknown fields, symlinks, properties.
absl::StatusOr<Directory> DecodeDirectory(std::string_view bytes);

struct TreeFile {
  std::string path;  // "Game/a/b.png.ktx2", no leading '/'
  Digest digest;
  bool is_executable = false;
  bool operator==(const TreeFile&) const = default;
};

// Two owners that want one path.
struct Conflict {
  size_t first = 0;  // indexes into the files given
  size_t second = 0;
  std::string path;
  std::string reason;  // "same path", "differ in case or Unicode form only", "file against folder"
};

struct BuiltTree {
  Digest root;
  std::map<Digest, std::string> directories;  // canonical bytes by digest, the root's included
  std::vector<Conflict> conflicts;            // when not empty, root means nothing
};

// `files` in any order, each path a plain one (plain_name.h; a bug otherwise). `fold` gives the
// name folded for case and Unicode form (content::FoldName); empty: names that differ are others.
BuiltTree BuildTree(const std::vector<TreeFile>& files,
                    const std::function<std::string(std::string_view)>& fold);

// Limits of what is read: a small tree of shared folders can name very many files.
inline constexpr size_t kTreeDepthMax = 256;
inline constexpr size_t kTreeFilesMax = 10'000'000;

using ReadBlob = std::function<absl::StatusOr<Blob>(const Digest&)>;

// Lists the files under `root`, sorted by path. INVALID_ARGUMENT: not canonical, or deeper than
// kTreeDepthMax; RESOURCE_EXHAUSTED: more than kTreeFilesMax files; else what `read` answered. Each
// names the folder.
absl::StatusOr<std::vector<TreeFile>> ListTree(const Digest& root, const ReadBlob& read);

struct Difference {
  // kRenamed: the same bytes at another path, and no file at the old one.
  enum class Kind { kAdded, kRemoved, kChanged, kRenamed };
  Kind kind = Kind::kAdded;
  TreeFile before;  // all but kAdded
  TreeFile after;   // all but kRemoved
  bool operator==(const Difference&) const = default;

  // The path that the file has now, or had when it is gone.
  const std::string& path() const { return kind == Kind::kRemoved ? before.path : after.path; }
};
// Equal sub-folders are not read. Sorted by path; a file that became a folder is one removal and
// additions; nothing is kRenamed. Errors as ListTree.
absl::StatusOr<std::vector<Difference>> DiffTrees(const Digest& before, const Digest& after,
                                                  const ReadBlob& read);

// Makes one kRenamed, in place of the addition, of each removal and addition with the same bytes.
// Where several could be paired, those with the longest common end of their paths are, then the
// first by path. Above kRenamePairsMax pairs of one digest: the first by path, whatever their ends.
inline constexpr size_t kRenamePairsMax = 1'000'000;
std::vector<Difference> FindRenames(std::vector<Difference> differences);

struct DifferenceTotals {
  uint64_t added = 0, removed = 0, changed = 0, renamed = 0;
  uint64_t bytes_before = 0;  // of what differs
  uint64_t bytes_after = 0;
};
DifferenceTotals TotalsOf(const std::vector<Difference>& differences);

}  // namespace galley::tree
