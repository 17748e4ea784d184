// ByteSource: where the bytes of a job's inputs come from: their places on this machine
// (files_in_place.h), or the session, which has them from a director on another machine
// (fetched_bytes.h).
//
// What is handed out was hashed on the way. Errors: ABORTED: a file is no longer what the snapshot
// says; UNAVAILABLE: a blob cannot be had; others as content::Snapshot has them.
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

  // Of a file of the snapshot, by its virtual path. NOT_FOUND: it is none (of Stream ABORTED).
  virtual absl::StatusOr<Digest> DigestOf(const std::string& path) = 0;
  // RESOURCE_EXHAUSTED: larger than `size_bytes_max`.
  virtual absl::StatusOr<content::Snapshot::Content> Read(const std::string& path,
                                                          uint64_t size_bytes_max) = 0;
  // The digest of what was handed out, which is worth nothing unless this is OK.
  virtual absl::StatusOr<Digest> Stream(const std::string& path, const TakePiece& take) = 0;
  // Whether programs that read the file at its place still find these bytes there.
  virtual absl::Status CheckUnchanged(const std::string& path, const Digest& digest) = 0;

  virtual absl::StatusOr<Blob> ReadBlob(const Digest& digest) = 0;
  // For a blob that is a file of its own. Likewise.
  virtual absl::Status StreamBlob(const Digest& digest, const TakePiece& take) = 0;
};

}  // namespace galley::worker
