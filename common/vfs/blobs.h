// Blobs: blobs from the cache, else from the director.
//
// Threads: any. Two threads that want one blob fetch it once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "common/vfs/blob_cache.h"
#include "common/vfs/blob_id.h"
#include "common/vfs/ground.h"
#include "common/vfs/result.h"
#include "common/vfs/waiting.h"

namespace galley::vfs {

class Blobs {
 public:
  // `ground` outlives this object.
  explicit Blobs(Ground& ground);

  // Makes the cache folder. Called before everything else.
  Outcome Begin() { return cache_.Begin(); }

  // Blocks. `may_fetch`: false while the director is away. Faults: GALLEY_VFS_OFFLINE: the cache
  // does not have it, and it may not be fetched, or cannot; kNotCached: the director does not
  // have it either; GALLEY_VFS_NO_SPACE: as BlobCache::Append, or others evict it again and again.
  Result<std::shared_ptr<OpenFile>> Open(const BlobId& blob, bool may_fetch,
                                         const Waiting& waiting);
  // The bytes of a small one. Faults as Open.
  Result<std::string> Read(const BlobId& blob, bool may_fetch, const Waiting& waiting);

  BlobCache& cache() { return cache_; }
  const BlobCache& cache() const { return cache_; }

 private:
  // FetchEnd: the end of a fetch, however it comes.
  struct FetchEnd {
    Blobs& blobs;
    const BlobId& blob;
    ~FetchEnd() { blobs.EndFetch(blob); }
  };

  template <typename Value, typename Look>
  Result<Value> Get(const Look& look, const BlobId& blob, bool may_fetch, const Waiting& waiting);
  Outcome Fetch(const BlobId& blob, bool may_fetch, const Waiting& waiting);
  Outcome BeginFetch(const BlobId& blob, const Waiting& waiting);
  void EndFetch(const BlobId& blob);
  // `had`: how many bytes are there afterwards.
  Outcome FetchOnce(const BlobId& blob, const Waiting& waiting, uint64_t& had);

  Ground& ground_;
  BlobCache cache_;
  std::mutex mutex_;
  std::condition_variable fetch_ended_;
  std::set<BlobId> fetches_;  // that are under way; guarded by mutex_
};

}  // namespace galley::vfs
