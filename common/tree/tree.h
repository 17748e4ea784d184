// Cooked trees: REAPI v2 Directory messages in canonical form, and their difference. Pure.
//
// Canonical: files, then directories, each sorted by name bytes; no properties, times, links, empty
// folders; is_executable only where true. A digest is of the bytes as received: stored bytes are
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
// INVALID_ARGUMENT: not canonical: order, duplicates across both lists, names that are not one
// plain segment, unknown fields, symlinks, properties.
absl::StatusOr<Directory> DecodeDirectory(std::string_view bytes);

struct TreeFile {
  std::string path;  // "Game/a/b.png.ktx2", no leading '/'
  Digest digest;
  bool is_executable = false;
  bool operator==(const TreeFile&) const = default;
};

// Conflict: two files that cannot be in one tree.
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

// `files` may be in any order. REQUIRES: their paths are plain (plain_name.h). `fold` folds a name
// for case and Unicode form (content::FoldName); empty: names are not folded.
BuiltTree BuildTree(const std::vector<TreeFile>& files,
                    const std::function<std::string(std::string_view)>& fold);

// The folders of `built`, children before their parents, each once; the root is the last.
std::vector<Digest> ChildrenFirst(const BuiltTree& built);

// Limits for reading: a small tree of shared folders can name very many files.
inline constexpr size_t kTreeDepthMax = 256;
inline constexpr size_t kTreeFilesMax = 10'000'000;

using ReadBlob = std::function<absl::StatusOr<Blob>(const Digest&)>;

// Lists the files under `root`, sorted by path. Errors name the folder. INVALID_ARGUMENT: not
// canonical, or deeper than kTreeDepthMax; RESOURCE_EXHAUSTED: more than kTreeFilesMax files; else
// as `read`.
absl::StatusOr<std::vector<TreeFile>> ListTree(const Digest& root, const ReadBlob& read);

struct Difference {
  // kRenamed: the same bytes at another path, and no file at the old one.
  enum class Kind { kAdded, kRemoved, kChanged, kRenamed };
  Kind kind = Kind::kAdded;
  TreeFile before;  // not for kAdded
  TreeFile after;   // not for kRemoved
  bool operator==(const Difference&) const = default;

  // The path of the file now, or before if it was removed.
  const std::string& path() const { return kind == Kind::kRemoved ? before.path : after.path; }
};
// The differences, sorted by path; none is kRenamed. Equal sub-folders are not read. A file that
// became a folder is one removal and additions. Errors as ListTree.
absl::StatusOr<std::vector<Difference>> DiffTrees(const Digest& before, const Digest& after,
                                                  const ReadBlob& read);

// Replaces each pair of a removal and an addition with the same bytes by one kRenamed, which stands
// where the addition stood. Among several possible pairs the longest common end of the paths wins,
// then the first by path. Above kRenamePairsMax pairs of one digest, the first by path wins.
inline constexpr size_t kRenamePairsMax = 1'000'000;
std::vector<Difference> FindRenames(std::vector<Difference> differences);

struct DifferenceTotals {
  uint64_t added = 0, removed = 0, changed = 0, renamed = 0;
  uint64_t bytes_before = 0;  // of files that differ
  uint64_t bytes_after = 0;
};
DifferenceTotals TotalsOf(const std::vector<Difference>& differences);

}  // namespace galley::tree
