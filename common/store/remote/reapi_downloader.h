// ReapiDownloader: brings blobs from a REAPI server, many at a time, each verified before it is
// Put. A blob whose bytes were wrong twice is not asked for again.
//
// Threads: any.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/store/remote/reapi_caller.h"

namespace galley::store {

class ReapiDownloader {
 public:
  explicit ReapiDownloader(ReapiCaller& caller) : caller_(caller) {}

  // As RemoteCache::Fetch.
  absl::StatusOr<std::vector<Digest>> Fetch(std::span<const Digest> digests, BlobStore& into,
                                            const RemoteLimits& limits);
  // One blob, into memory. NOT_FOUND, DATA_LOSS (twice wrong), or why the server did not answer.
  absl::StatusOr<Blob> Get(const Digest& digest, const RemoteLimits& limits);

 private:
  struct Work;    // of one Fetch
  struct Stream;  // one blob that comes in pieces
  void FetchBatch(std::span<const Digest> batch, Work& work);
  void FetchAlone(const Digest& digest, Work& work);
  absl::Status ReadInto(const Digest& digest, BlobStore& into, const RemoteLimits& limits);
  absl::Status ReadStream(Stream& stream, const RemoteLimits& limits);
  grpc::Status ReadOnce(Stream& stream, grpc::ClientContext& context);
  void NoteWrong(const Digest& digest);
  bool IsKnownWrong(const Digest& digest) const;

  ReapiCaller& caller_;
  mutable base::Mutex mutex_;
  std::set<Digest> wrong_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
