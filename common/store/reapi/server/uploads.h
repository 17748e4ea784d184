// Uploads: the unfinished uploads of ByteStream.Write, by caller and resource name. A stream that
// breaks parks its upload; another Write of the same name continues it at the offset of
// QueryWriteStatus, or begins again at 0. An upload that nobody continues is dropped.
//
// Offsets count uncompressed bytes, except within one stream of a compressed upload: its messages
// count compressed bytes from the offset at which the stream began. Each such stream is a zstd
// frame of its own.
//
// Limits: uploads in all and of one caller, idle time, total time. A new upload above a limit
// replaces the upload that was parked longest; if none is parked: RESOURCE_EXHAUSTED with a
// RetryInfo.
// Threads: any; the messages of one call come one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/reapi/server/reapi_core.h"
#include "common/store/reapi/server/requests.h"

namespace galley::store {

class Uploads {
 public:
  struct Options {
    size_t open_max = 1024;
    size_t of_one_max = 256;  // of each caller
    absl::Duration idle_max = absl::Seconds(60);
    absl::Duration whole_max = absl::Hours(1);
  };
  // `store` and `clock` must outlive this object.
  Uploads(BlobStore& store, const ReapiOptions& reapi, Clock& clock, const Options& options);
  ~Uploads();

  // Returns a handler for one call of ByteStream.Write; it must not outlive the uploads.
  // INVALID_ARGUMENT: the name is wrong, or changes in a later message; the offset is not the end
  // of the upload; or the bytes do not have the digest, and are dropped. ABORTED: another call took
  // the upload over, or it was dropped.
  std::unique_ptr<CallHandler> NewWrite(const Caller& caller);
  // Handles ByteStream.QueryWriteStatus. NOT_FOUND: there is neither such an upload nor the blob.
  ReapiCore::Reply QueryWriteStatus(std::string_view request, const Caller& caller);

  // Drops uploads that are idle or took too long. The server calls this each second.
  void Sweep();
  size_t open() const;

 private:
  class Write;
  struct Upload;
  using Key = std::pair<std::string, std::string>;  // caller's name, resource name
  using Dropped = std::vector<std::shared_ptr<Upload>>;

  // Returns the upload, which belongs to `writer` from now on.
  absl::StatusOr<std::shared_ptr<Upload>> Attach(const Key& key, uint64_t& writer);
  absl::Status MakeRoomLocked(const std::string& caller, Dropped& dropped) GALLEY_REQUIRES(mutex_);
  bool DropParkedLocked(const std::string* caller, Dropped& dropped) GALLEY_REQUIRES(mutex_);
  void EraseLocked(const Key& key, Dropped& dropped) GALLEY_REQUIRES(mutex_);
  // Returns whether the upload still belongs to `writer`, and marks it as active if so.
  bool Hold(const Key& key, uint64_t writer);
  void Park(const Key& key, uint64_t writer);
  void Drop(const Key& key, uint64_t writer);

  BlobStore& store_;
  const ReapiOptions reapi_;
  Clock& clock_;
  const Options options_;
  mutable base::Mutex mutex_;
  std::map<Key, std::shared_ptr<Upload>> uploads_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, size_t> of_caller_ GALLEY_GUARDED_BY(mutex_);
  uint64_t writers_ GALLEY_GUARDED_BY(mutex_) = 0;  // the last number given to a writer
};

}  // namespace galley::store
