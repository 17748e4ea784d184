// ToldFiles: what a director has said of paths of a session, beside the tree that is seen: the
// files that it answered with, and those of a comparison with an older root. So a file that was
// cooked a moment ago is found again without the folders of the tree that has grown by it.
//
// Memory: some 100 bytes for each path. Threads: any.
#pragma once

#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/vfs/blob_id.h"

namespace galley::vfs {

class ToldFiles {
 public:
  explicit ToldFiles(size_t paths_max) : paths_max_(paths_max) {}

  struct Told {
    std::optional<BlobId> blob;  // nullopt: not cooked in the tree that is seen
  };
  // nullopt: nothing was told.
  std::optional<Told> Find(const std::string& session, const std::string& path) const {
    const std::lock_guard lock(mutex_);
    if (session.empty() || session != session_) return std::nullopt;
    const auto found = told_.find(Sha256::Of(path));
    return found == told_.end() ? std::nullopt : std::optional(found->second);
  }
  // Paths of another session are forgotten. False: there is no room.
  bool Note(const std::string& session, const std::string& path, const Told& told) {
    const std::lock_guard lock(mutex_);
    if (session != session_) told_.clear();
    session_ = session;
    const Hash key = Sha256::Of(path);
    if (told_.size() >= paths_max_ && !told_.contains(key)) return false;
    Told& known = told_[key];
    if (told.blob || !known.blob) known = told;  // what was cooked once stays so
    return true;
  }
  void Clear() {
    const std::lock_guard lock(mutex_);
    told_.clear();
  }

 private:
  struct FirstBytes {
    size_t operator()(const Hash& hash) const {
      size_t value = 0;
      std::memcpy(&value, hash.data(), sizeof(value));
      return value;
    }
  };

  const size_t paths_max_;
  mutable std::mutex mutex_;
  std::string session_;                              // guarded by mutex_
  std::unordered_map<Hash, Told, FirstBytes> told_;  // guarded by mutex_
};

}  // namespace galley::vfs
