// Uploads: the blobs that ByteStream.Write is bringing in, by caller and resource name, each with
// what came of it so far. A stream that breaks parks its upload; another Write of the same name
// goes on with it from where QueryWriteStatus says, or begins again at 0. What nobody goes on with
// is dropped.
//
// Offsets are those of the uncompressed bytes, except within one stream of a compressed upload,
// whose messages count compressed bytes from where the stream began; each such stream begins with a
// zstd frame of its own.
//
// Limits: uploads in all and of one caller (a further one takes the place of the one that is parked
// for the longest time, else RESOURCE_EXHAUSTED with a RetryInfo), idle time, time in all.
// Threads: any; each call's messages one at a time.
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
    size_t of_one_max = 256;  // of one caller
    absl::Duration idle_max = absl::Seconds(60);
    absl::Duration whole_max = absl::Hours(1);
  };
  // `store` and `clock` outlive it.
  Uploads(BlobStore& store, const ReapiOptions& reapi, Clock& clock, const Options& options);
  ~Uploads();

  // Handles one call of ByteStream.Write; it may not outlive the uploads. INVALID_ARGUMENT: a wrong
  // name, another name later on, an offset that is not where the upload is, bytes that are not the
  // digest's (they are dropped). ABORTED: another call took the upload over, or it was dropped.
  std::unique_ptr<CallHandler> NewWrite(const Caller& caller);
  // ByteStream.QueryWriteStatus. NOT_FOUND: no such upload, and the blob is not here.
  ReapiCore::Reply QueryWriteStatus(std::string_view request, const Caller& caller);

  // Drops what is idle or took too long. The server calls it each second.
  void Sweep();
  size_t open() const;

 private:
  class Write;
  struct Upload;
  using Key = std::pair<std::string, std::string>;  // caller's name, resource name
  using Dropped = std::vector<std::shared_ptr<Upload>>;

  // The upload, from now on `writer`'s.
  absl::StatusOr<std::shared_ptr<Upload>> Attach(const Key& key, uint64_t& writer);
  absl::Status MakeRoomLocked(const std::string& caller, Dropped& dropped) GALLEY_REQUIRES(mutex_);
  bool DropParkedLocked(const std::string* caller, Dropped& dropped) GALLEY_REQUIRES(mutex_);
  void EraseLocked(const Key& key, Dropped& dropped) GALLEY_REQUIRES(mutex_);
  // Whether it is still `writer`'s; it is not idle then.
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
  uint64_t writers_ GALLEY_GUARDED_BY(mutex_) = 0;  // the last number that was given
};

}  // namespace galley::store
