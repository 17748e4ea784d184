// FileHashing: hashes large files on its own threads, so that a file of 100 GB delays only callers
// that need it. A file that several callers ask for is hashed once. Huge files have a separate
// thread, so that they do not delay files that are merely large.
//
// The digests go to the Sources (LearnDigest); `done` gets the files that could not be hashed.
//
// Threads: Hash: any; `done` is called on the caller's thread or on a thread of FileHashing. The
// destructor drops files that have not begun, and waits for the others: cancel `stop` first.
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

  // `stop` outlives FileHashing. Once it is cancelled, hashing stops between two pieces of a file.
  explicit FileHashing(const Cancellation& stop) : stop_(stop) {}

  // Hashes these files of `sources` one after another, and then calls `done`.
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
