// Overlay: merges mounts into one tree. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/content/snapshot.h"
#include "common/content/walk.h"

namespace galley::content {

// The rank of a mount: at one virtual path the mount of the higher rank hides the mount of the
// lower. The longer mount path ranks higher, then the higher priority.
std::pair<size_t, int> MountRank(const Mount& mount);

struct Overlaid {
  std::vector<SeenFile> shown;   // sorted by path, unique, no file where a folder is
  std::vector<SeenFile> hidden;  // the others, sorted by path, then descending rank
};

// Lays mounts over each other from the lowest rank to the highest: a file hides the file or the
// folder below it at its path, a folder hides a file and is merged with a folder.
Overlaid Overlay(const std::vector<Mount>& mounts, std::vector<SeenFile> seen);

// Finds names that differ only in case or Unicode form.
class FoldIndex {
 public:
  using PathOf = std::function<std::string_view(size_t)>;
  FoldIndex() = default;
  // `count`: the number of files, sorted by path; the index holds their positions.
  FoldIndex(size_t count, const PathOf& path_of);

  // Groups of at least two files with the same fold, each sorted by path.
  std::vector<std::vector<uint32_t>> Clashes(const PathOf& path_of) const;
  // Returns every file whose fold equals the fold of `path`, sorted by path.
  std::vector<size_t> FindAll(const PathOf& path_of, std::string_view path) const;

 private:
  // pairs of a fold's hash and a position, sorted
  std::vector<std::pair<uint64_t, uint32_t>> entries_;
};

}  // namespace galley::content
