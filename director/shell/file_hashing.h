// FileHashing: takes the digests of large files on threads of its own, so that a file of 100 GB
// holds up nobody who does not need it. A file that several callers ask for is hashed once.
//
// Huge files have a thread of their own, so that they hold up no file that is merely large. The
// Sources learn the digests; `done` is told which files could not be hashed.
//
// Threads: Hash from any; `done` is called on the caller's thread or on a thread of FileHashing.
// The destructor drops files that have not begun and waits for files that have: cancel `stop`
// first.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "common/base/task_pool.h"
#include "director/shell/quick_sources.h"
#include "director/shell/sources.h"

namespace galley::director {

class FileHashing {
 public:
  static constexpr uint64_t kHugeBytes = uint64_t{1} << 30;
  using Done = std::function<void(FailedHashes failed)>;

  // `stop` outlives FileHashing: once `stop` is cancelled, files end unhashed, between two pieces.
  explicit FileHashing(const Cancellation& stop) : stop_(stop) {}

  // Hashes these files of `sources`, one after another, then calls `done`.
  void Hash(SourcesPtr sources, std::vector<std::string> paths, Done done) {
    HashNext(std::move(sources), std::move(paths), {}, std::move(done));
  }

 private:
  using Key = std::pair<uint64_t, std::string>;  // Sources::number and path
  using Waiter = std::function<void(const absl::Status&)>;

  void HashNext(SourcesPtr sources, std::vector<std::string> paths, FailedHashes failed, Done done);
  void HashOne(const SourcesPtr& sources, const std::string& path);
  void Post(uint64_t size_bytes, std::function<void()> task) GALLEY_REQUIRES(mutex_);

  const Cancellation& stop_;
  base::Mutex mutex_;
  std::map<Key, std::vector<Waiter>> waiting_ GALLEY_GUARDED_BY(mutex_);
  std::optional<base::TaskPool> large_ GALLEY_GUARDED_BY(mutex_), huge_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
