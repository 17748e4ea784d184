// BlobSink: stores the output bytes of a session's executors: in segments of the director's store
// (segment_pool.h), or, on a machine without the director's files, in the cache, from which they
// are uploaded (upload_gate.h).
//
// Threads: any.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "common/store/local/blob_file.h"
#include "common/wire/convert.h"
#include "worker/session/blob_cache.h"

namespace galley::worker {

class BlobSink {
 public:
  virtual ~BlobSink() = default;
  // RESOURCE_EXHAUSTED: no space; other codes: trouble of the machine. May wait for a limited time.
  virtual absl::StatusOr<wire::BlobAt> Append(std::string_view bytes) = 0;
  // A file for a blob that comes in pieces.
  virtual absl::StatusOr<store::HashedFile> CreateFile() = 0;
};

class CacheSink final : public BlobSink {
 public:
  explicit CacheSink(BlobCache& cache) : cache_(cache) {}

  absl::StatusOr<wire::BlobAt> Append(std::string_view bytes) override {
    const Digest digest = Digest::Of(bytes);
    if (const absl::Status put = cache_.Put(digest, bytes); !put.ok()) return put;
    return wire::BlobAt{.digest = digest, .location = {}};
  }
  absl::StatusOr<store::HashedFile> CreateFile() override { return cache_.Create(); }

 private:
  BlobCache& cache_;
};

}  // namespace galley::worker
