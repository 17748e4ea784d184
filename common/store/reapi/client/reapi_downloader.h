// ReapiDownloader: fetches blobs from a REAPI server, many at a time, and verifies each before Put.
// A blob with wrong bytes is fetched once more, alone and uncompressed; if it is wrong again, it is
// never asked for again. After the store was given up (blob_trust.h), nothing is asked for.
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

  // See RemoteCache::Fetch.
  absl::StatusOr<std::vector<Digest>> Fetch(std::span<const Digest> digests, BlobStore& into,
                                            const RemoteLimits& limits);
  // Fetches one blob into memory. NOT_FOUND; DATA_LOSS: wrong twice; other errors: why the server
  // did not answer.
  absl::StatusOr<Blob> Get(const Digest& digest, const RemoteLimits& limits);
  // Reads the blob and says whether the server's bytes are right, whatever BlobTrust knows;
  // nullopt: the server did not answer.
  std::optional<bool> IsRightThere(const Digest& digest, const RemoteLimits& limits);

 private:
  struct Work;    // of one Fetch
  struct Stream;  // one blob that is read in pieces
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
