// BuildTree sorts the files once, so that every folder is a run, and closes folders as the runs
// end: O(n log n) and one hash a folder.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>

#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "common/tree/tree.h"

namespace galley::tree {
namespace {

// Returns the offset at which two texts begin to differ. Compares eight bytes at a time, since
// neighbours share long folders.
size_t SharedLength(std::string_view a, std::string_view b) {
  const size_t size = std::min(a.size(), b.size());
  size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    if (std::memcmp(a.data() + at, b.data() + at, 8) != 0) break;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

// Order of paths segment by segment: '/' before every other byte.
int ComparePaths(std::string_view a, std::string_view b) {
  const size_t at = SharedLength(a, b);
  if (at == a.size() || at == b.size()) return (at != a.size()) - (at != b.size());
  const auto weight = [](char c) { return c == '/' ? -1 : int{static_cast<uint8_t>(c)}; };
  return weight(a[at]) < weight(b[at]) ? -1 : 1;
}

bool IsBelow(std::string_view path, std::string_view file) {
  return path.size() > file.size() && path[file.size()] == '/' &&
         path.substr(0, file.size()) == file;
}

std::vector<size_t> SortedIndexes(size_t count, const auto& less) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  if (!std::ranges::is_sorted(order, less)) std::ranges::sort(order, less);
  return order;
}

// The folded forms of all paths; a path that is its own folded form takes no memory.
class FoldedPaths {
 public:
  FoldedPaths(const std::vector<TreeFile>& files,
              const std::function<std::string(std::string_view)>& fold)
      : files_(files), folded_(files.size()) {
    for (size_t i = 0; fold && i < files.size(); ++i) {
      std::string text = fold(files[i].path);
      if (text == files[i].path) continue;
      folded_[i] = std::move(text);
      differ_ = true;
    }
  }
  std::string_view operator[](size_t i) const {
    return folded_[i] ? std::string_view(*folded_[i]) : std::string_view(files_[i].path);
  }
  bool differ() const { return differ_; }

 private:
  const std::vector<TreeFile>& files_;
  std::vector<std::optional<std::string>> folded_;
  bool differ_ = false;
};

// `order`: by folded path, so that files of one folded path are neighbours and what lies below a
// file follows it. Of several files with one folded path each but the first is paired with the
// first; what lies below a file is paired with the outermost such file.
std::vector<Conflict> FindConflicts(const std::vector<TreeFile>& files, const FoldedPaths& folded,
                                    const std::vector<size_t>& order) {
  std::vector<Conflict> conflicts;
  std::optional<size_t> head, outermost;
  for (const size_t i : order) {
    if (outermost && IsBelow(folded[i], folded[*outermost])) {
      conflicts.push_back({*outermost, i, files[*outermost].path, "file against folder"});
    } else {
      if (!outermost || folded[i] != folded[*outermost]) outermost = i;
    }
    if (head && folded[i] == folded[*head]) {
      const bool same = files[i].path == files[*head].path;
      conflicts.push_back(
          {*head, i, files[i].path, same ? "same path" : "differ in case or Unicode form only"});
    } else {
      head = i;
    }
  }
  return conflicts;
}

// Folders from the root to the one being filled.
class Builder {
 public:
  explicit Builder(BuiltTree& tree) : tree_(tree) { open_.emplace_back(); }

  // REQUIRES: files come in the order of ComparePaths.
  void Add(const TreeFile& file) {
    std::string_view rest = file.path;
    size_t depth = 0;
    bool is_shared = true;
    for (size_t slash; (slash = rest.find('/')) != std::string_view::npos; ++depth) {
      const std::string_view name = rest.substr(0, slash);
      rest.remove_prefix(slash + 1);
      is_shared = is_shared && depth + 1 < open_.size() && open_[depth + 1].name == name;
      if (is_shared) continue;
      CloseTo(depth);
      open_.push_back({name, {}});
    }
    CloseTo(depth);
    open_.back().directory.files.push_back({std::string(rest), file.digest, file.is_executable});
  }

  Digest Finish() {
    CloseTo(0);
    return Store(open_.back().directory);
  }

 private:
  struct Open {
    std::string_view name;
    Directory directory;
  };

  void CloseTo(size_t depth) {
    while (open_.size() > depth + 1) {
      const Digest digest = Store(open_.back().directory);
      const std::string_view name = open_.back().name;
      open_.pop_back();
      open_.back().directory.directories.push_back({std::string(name), digest});
    }
  }

  Digest Store(const Directory& directory) {
    std::string bytes = EncodeDirectory(directory);
    const Digest digest = Digest::Of(bytes);
    tree_.directories.try_emplace(digest, std::move(bytes));
    return digest;
  }

  BuiltTree& tree_;
  std::vector<Open> open_;
};

}  // namespace

BuiltTree BuildTree(const std::vector<TreeFile>& files,
                    const std::function<std::string(std::string_view)>& fold) {
  for (const TreeFile& file : files) {
    GALLEY_CHECK(IsPlainPath(file.path));
  }
  const FoldedPaths folded(files, fold);
  const auto by_path = [&](size_t a, size_t b) {
    const int order = ComparePaths(files[a].path, files[b].path);
    return order != 0 ? order < 0 : a < b;
  };
  const auto by_folded = [&](size_t a, size_t b) {
    const int order = ComparePaths(folded[a], folded[b]);
    return order != 0 ? order < 0 : by_path(a, b);
  };
  BuiltTree tree;
  std::vector<size_t> order = SortedIndexes(files.size(), by_folded);
  tree.conflicts = FindConflicts(files, folded, order);
  if (!tree.conflicts.empty()) return tree;
  if (folded.differ()) std::ranges::sort(order, by_path);
  Builder builder(tree);
  for (const size_t i : order) builder.Add(files[i]);
  tree.root = builder.Finish();
  return tree;
}

std::vector<Digest> ChildrenFirst(const BuiltTree& built) {
  std::set<Digest> seen;
  std::vector<Digest> order;
  const auto append = [&](const auto& self, const Digest& digest) -> void {
    if (!seen.insert(digest).second) return;
    const absl::StatusOr<Directory> directory = DecodeDirectory(built.directories.at(digest));
    GALLEY_CHECK(directory.ok());
    for (const DirectoryNode& child : directory->directories) self(self, child.digest);
    order.push_back(digest);
  };
  append(append, built.root);
  return order;
}

}  // namespace galley::tree
