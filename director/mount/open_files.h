// OpenFiles: the files that are kept open for reads, by node; the ones that were read the longest
// ago are closed when there are too many.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "common/vfs/disk.h"

namespace galley::mount {

class OpenFiles {
 public:
  static constexpr size_t kFilesMax = 512;

  // nullptr: it is not open.
  std::shared_ptr<vfs::OpenFile> Find(uint64_t node) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(node);
    if (found == files_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  void Put(uint64_t node, std::shared_ptr<vfs::OpenFile> file) {
    const std::lock_guard lock(mutex_);
    EraseLocked(node);
    order_.emplace_front(node, std::move(file));
    files_[node] = order_.begin();
    if (order_.size() > kFilesMax) EraseLocked(order_.back().first);
  }
  void Erase(uint64_t node) {
    const std::lock_guard lock(mutex_);
    EraseLocked(node);
  }

 private:
  using Order = std::list<std::pair<uint64_t, std::shared_ptr<vfs::OpenFile>>>;

  void EraseLocked(uint64_t node) {
    const auto found = files_.find(node);
    if (found == files_.end()) return;
    order_.erase(found->second);
    files_.erase(found);
  }

  std::mutex mutex_;
  Order order_;                                          // newest first; guarded by mutex_
  std::unordered_map<uint64_t, Order::iterator> files_;  // guarded by mutex_
};

}  // namespace galley::mount
