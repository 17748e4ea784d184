// ReapiDownloader: brings blobs from a REAPI server, many at a time, each verified before it is
// Put. A blob whose bytes were wrong is asked for once more, by itself and not compressed, and
// never again when they are wrong then, too. Where the store is given up, nothing is asked for
// (blob_trust.h).
//
// Threads: any.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/reapi/client/blob_trust.h"
#include "common/store/reapi/client/reapi_caller.h"

namespace galley::store {

class ReapiDownloader {
 public:
  ReapiDownloader(ReapiCaller& caller, BlobTrust& trust) : caller_(caller), trust_(trust) {}

  // Does what RemoteCache::Fetch says.
  absl::StatusOr<std::vector<Digest>> Fetch(std::span<const Digest> digests, BlobStore& into,
                                            const RemoteLimits& limits);
  // Fetches one blob into memory. NOT_FOUND, DATA_LOSS (twice wrong), or why the server did not
  // answer.
  absl::StatusOr<Blob> Get(const Digest& digest, const RemoteLimits& limits);
  // Whether the server's bytes are right, whatever is known of them; nothing: it did not say.
  std::optional<bool> IsRightThere(const Digest& digest, const RemoteLimits& limits);

 private:
  struct Work;    // of one Fetch
  struct Stream;  // one blob that comes in pieces
  void FetchBatch(std::span<const Digest> batch, Work& work);
  void FetchAlone(const Digest& digest, int rounds, Work& work);
  absl::Status Read(Stream& stream, int rounds, const RemoteLimits& limits);
  absl::Status ReadStream(Stream& stream, int rounds, const RemoteLimits& limits);
  grpc::Status ReadOnce(Stream& stream, grpc::ClientContext& context);
  absl::Status CheckAsked(const Digest& digest) const;
  void NoteWrong(const Digest& digest);

  ReapiCaller& caller_;
  BlobTrust& trust_;
};

}  // namespace galley::store
