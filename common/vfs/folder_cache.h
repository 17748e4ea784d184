// FolderCache: the folders of a tree that were read last, in memory: nearly every path leads
// through the same few.
//
// Memory: as much as it is told; a folder above a quarter of that is not kept.
// Threads: any.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "common/vfs/blob_id.h"
#include "common/vfs/tree_path.h"

namespace galley::vfs {

class FolderCache {
 public:
  explicit FolderCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  std::optional<FolderBytes> Find(const BlobId& folder) {
    const std::lock_guard lock(mutex_);
    const auto found = folders_.find(folder);
    if (found == folders_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  void Put(const BlobId& folder, const FolderBytes& bytes) {
    if (folder.size > bytes_max_ / 4) return;
    const std::lock_guard lock(mutex_);
    if (folders_.contains(folder)) return;
    order_.emplace_front(folder, bytes);
    folders_[folder] = order_.begin();
    held_ += SizeOf(folder);
    while (held_ > bytes_max_) {
      held_ -= SizeOf(order_.back().first);
      folders_.erase(order_.back().first);
      order_.pop_back();
    }
  }

 private:
  using Order = std::list<std::pair<BlobId, FolderBytes>>;

  // With what the entry itself takes, by estimate.
  static size_t SizeOf(const BlobId& folder) { return static_cast<size_t>(folder.size) + 256; }

  const size_t bytes_max_;
  std::mutex mutex_;
  Order order_;                                // newest first; guarded by mutex_
  std::map<BlobId, Order::iterator> folders_;  // guarded by mutex_
  size_t held_ = 0;                            // bytes; guarded by mutex_
};

}  // namespace galley::vfs
