// ReapiUploader: sends blobs to a REAPI server, many at a time.
//
// Threads: any.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/store/reapi/client/reapi_caller.h"

namespace galley::store {

class ReapiUploader {
 public:
  explicit ReapiUploader(ReapiCaller& caller) : caller_(caller) {}

  // See RemoteCache::Send. Stops at the first error.
  absl::Status Send(std::span<const Digest> digests, BlobStore& from, const RemoteLimits& limits);

 private:
  struct Stream;
  absl::Status SendBatch(std::span<const Digest> batch, BlobStore& from,
                         const ReapiCapabilities& server, const RemoteLimits& limits);
  absl::Status SendAlone(const Digest& digest, BlobStore& from, const ReapiCapabilities& server,
                         const RemoteLimits& limits);
  absl::Status WriteStream(Stream& stream, const RemoteLimits& limits);
  grpc::Status WriteOnce(Stream& stream, grpc::ClientContext& context);
  void FindOutHowFar(Stream& stream, const RemoteLimits& limits);

  ReapiCaller& caller_;
};

}  // namespace galley::store
