// MountLog: says why files cannot be read, once for each file and reason until the tree changes.
// Files that nobody can have because the director is away are counted, and said when they are many
// or when it is back.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "common/base/log.h"
#include "common/vfs/result.h"

namespace galley::mount {

class MountLog {
 public:
  static constexpr size_t kSaidMax = 10'000;

  void NoteFailed(const std::string& path, const vfs::Fault& fault) {
    const std::lock_guard lock(mutex_);
    if (fault.code == GALLEY_VFS_OFFLINE) {
      if (offline_++ == 0) LogWarning("path={}: {}", path, fault.text);
      return;
    }
    if (said_.size() >= kSaidMax) said_.clear();
    if (said_.insert(path + "\n" + fault.text).second) LogWarning("path={}: {}", path, fault.text);
  }
  // The tree has changed, so the director is there.
  void NoteChanged() {
    const std::lock_guard lock(mutex_);
    said_.clear();
    TellOfflineLocked();
  }
  void NoteReached() {
    const std::lock_guard lock(mutex_);
    TellOfflineLocked();
  }

 private:
  void TellOfflineLocked() {
    if (offline_ > 1) LogWarning("{} reads failed while the director was away", offline_);
    offline_ = 0;
  }

  std::mutex mutex_;
  std::set<std::string> said_;  // guarded by mutex_
  uint64_t offline_ = 0;        // reads that failed; guarded by mutex_
};

}  // namespace galley::mount
