// Streams of blobs, for blobs that are too large to hold in memory.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace galley::store {

// Threads: one at a time.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // Returns at most `bytes_max` (> 0) bytes, which stay valid until the next call; no bytes: the
  // end. The end comes only after the whole blob was verified; do not trust the bytes before.
  // DATA_LOSS: the blob is wrong, and is quarantined.
  virtual absl::StatusOr<std::string_view> Next(size_t bytes_max) = 0;
};

// Threads: one at a time. A writer that is destroyed before Finish leaves nothing behind.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // INVALID_ARGUMENT: more bytes than the digest says.
  virtual absl::Status Append(std::string_view bytes) = 0;
  // Puts the appended bytes, like BlobStore::Put. INVALID_ARGUMENT: the bytes do not have the
  // digest.
  virtual absl::Status Finish() = 0;
};

}  // namespace galley::store
