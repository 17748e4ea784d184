// MountNodes: the files and folders that the kernel knows of a mount, by number.
//
// A file's number stands for one version of it: when the path shows other bytes, the next look-up
// makes another node. So whoever has the old version open keeps it, and what the kernel has cached
// of a number never becomes wrong. A folder keeps its number.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/vfs/tree_path.h"

namespace galley::mount {

inline constexpr uint64_t kTopNode = 1;  // FUSE_ROOT_ID

struct MountNode {
  uint64_t id = 0;
  std::string path;  // empty: the top
  bool is_folder = false;
  // A file's; nullopt: only a cook tells.
  std::optional<vfs::FileAt> content;
  int64_t made_s = 0;  // when the node was made, in seconds since 1970
};

class MountNodes {
 public:
  explicit MountNodes(int64_t now_s);

  // Returns the node of the path as it shows now, which the kernel learns once more.
  MountNode Learn(const std::string& path, bool is_folder,
                  const std::optional<vfs::FileAt>& content, int64_t now_s);
  // nullopt: the kernel has forgotten it.
  std::optional<MountNode> Find(uint64_t id) const;
  // The number of the path's newest node; nullopt: the kernel does not know it.
  std::optional<uint64_t> IdOf(const std::string& path) const;
  // A file was cooked. The first content stays. Returns the one that the node has.
  std::optional<vfs::FileAt> Cooked(uint64_t id, const vfs::FileAt& content);
  // The kernel lets go of what it learned, `count` times.
  void Forget(uint64_t id, uint64_t count);
  // True: the kernel knows the path as a file, so that it has to look it up again when it may show
  // something else. Learn then tells whether it does.
  bool KnowsFile(const std::string& path) const;
  // The newest nodes of files.
  std::vector<MountNode> Files() const;
  size_t size() const;

 private:
  struct Entry {
    MountNode node;
    uint64_t learned = 0;  // how often the kernel has, and did not let go
  };

  mutable std::mutex mutex_;
  uint64_t last_id_ = kTopNode;                       // guarded by mutex_
  std::unordered_map<uint64_t, Entry> entries_;       // guarded by mutex_
  std::unordered_map<std::string, uint64_t> newest_;  // by path; guarded by mutex_
};

}  // namespace galley::mount
