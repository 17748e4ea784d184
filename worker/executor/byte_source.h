// ByteSource: the source of the bytes of a job's inputs: their places on this machine
// (files_in_place.h), or the session, which fetches them from a director on another machine
// (fetched_bytes.h).
//
// Bytes are hashed before or while they are handed out. Errors: ABORTED: a file is no longer what
// the snapshot says; UNAVAILABLE: a blob cannot be had; other codes as in content::Snapshot.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/digest.h"
#include "common/base/read_pieces.h"
#include "common/content/snapshot.h"

namespace galley::worker {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The digest of a file of the snapshot, by its virtual path. NOT_FOUND: there is no such file;
  // Stream returns ABORTED instead.
  virtual absl::StatusOr<Digest> DigestOf(const std::string& path) = 0;
  // RESOURCE_EXHAUSTED: the file is larger than `size_bytes_max`.
  virtual absl::StatusOr<content::Snapshot::Content> Read(const std::string& path,
                                                          uint64_t size_bytes_max) = 0;
  // Returns the digest of the pieces that `take` got. On an error the pieces must not be used.
  virtual absl::StatusOr<Digest> Stream(const std::string& path, const TakePiece& take) = 0;
  // OK: programs that read the file at its place still find these bytes there.
  virtual absl::Status CheckUnchanged(const std::string& path, const Digest& digest) = 0;

  virtual absl::StatusOr<Blob> ReadBlob(const Digest& digest) = 0;
  // Streams a blob that is a file of its own. On an error the pieces must not be used.
  virtual absl::Status StreamBlob(const Digest& digest, const TakePiece& take) = 0;
};

}  // namespace galley::worker
