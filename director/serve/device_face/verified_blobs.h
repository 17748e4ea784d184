// VerifiedBlobs: the blobs of a store as bodies of answers. No byte leaves that was not compared
// with its digest, and no byte is compared twice while it can be believed:
//
//   small blobs   in memory, the most recently used ones; the store verifies each as it is read
//   large blobs   files of the store, verified once and held open (verified_file.h)
//
// Bytes that are wrong are told the store, which quarantines them and, with an upstream cache,
// fetches them again.
//
// Cost: a small blob in memory costs no system call, a large one that is held open two stats and
// StoreInfo; SHA-256 of the bytes otherwise. Memory and open files: Options.
// Threads: any. The callback of Open runs on the calling thread or on a thread of this object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/base/task_pool.h"
#include "common/store/interface/store.h"
#include "director/serve/device_face/recent_table.h"
#include "director/serve/device_face/verified_file.h"
#include "director/serve/http/http_answer.h"

namespace galley::director {

class VerifiedBlobs {
 public:
  struct Options {
    uint64_t memory_bytes_max = 64 << 20;
    uint64_t small_bytes_max = 1 << 20;  // larger blobs are files in a store
    size_t files_max = 64;               // held open
    size_t threads = 4;                  // that read and verify
  };
  using OnBody = std::function<void(absl::StatusOr<HttpBody>)>;

  // `store` outlives this object.
  VerifiedBlobs(store::Store& store, Options options);
  ~VerifiedBlobs() { Stop(); }

  // The bytes of a small blob that is in memory; nullptr: Open tells.
  Blob FindInMemory(const Digest& digest) GALLEY_EXCLUDES(mutex_);
  // Gives the body to `on_body`: at once if it is in memory. Never blocks. Who asks for a blob that
  // others wait for waits with them. NOT_FOUND: the store has no such blob. DATA_LOSS: its bytes
  // are wrong, and nobody has others. UNAVAILABLE: after Stop. Others: faults of the store.
  void Open(const Digest& digest, OnBody on_body) GALLEY_EXCLUDES(mutex_);
  // The same on this thread. Blocks.
  absl::StatusOr<HttpBody> OpenNow(const Digest& digest) GALLEY_EXCLUDES(mutex_);
  // Closes files that the store dropped or replaced, so that their room on the disk is free again.
  // Called now and then. Cost: a stat for each file that is held open.
  void LetGoOfDropped() GALLEY_EXCLUDES(mutex_);
  // Drops the callbacks of blobs that are not open, and returns when none runs any more.
  void Stop() GALLEY_EXCLUDES(mutex_);

 private:
  using FilePtr = std::shared_ptr<VerifiedFile>;

  bool IsSmall(const Digest& digest) const {
    return digest.size_bytes() <= options_.small_bytes_max;
  }
  FilePtr FindFile(const Digest& digest) GALLEY_EXCLUDES(mutex_);
  void Finish(const Digest& digest) GALLEY_EXCLUDES(mutex_);
  absl::StatusOr<HttpBody> ReadSmall(const Digest& digest);
  absl::StatusOr<HttpBody> OpenLarge(const Digest& digest);
  absl::StatusOr<HttpBody> VerifyLarge(const Digest& digest);

  store::Store& store_;
  const Options options_;
  base::Mutex mutex_;
  RecentTable<Blob> memory_ GALLEY_GUARDED_BY(mutex_);
  RecentTable<FilePtr> files_ GALLEY_GUARDED_BY(mutex_);
  // The callbacks of blobs that are being opened.
  std::map<Digest, std::vector<OnBody>> opening_ GALLEY_GUARDED_BY(mutex_);
  bool has_stopped_ GALLEY_GUARDED_BY(mutex_) = false;
  std::optional<base::TaskPool> pool_;  // used with mutex_ held until has_stopped_
};

}  // namespace galley::director
