// Blobs in pieces, for those that nobody wants whole in memory.
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
  // At most `bytes_max` (> 0) bytes, which stay valid until the next call; none at the end. The end
  // is told only when all of the blob was found to be right: what came before is to be believed
  // then. DATA_LOSS: it is not, and the blob is quarantined.
  virtual absl::StatusOr<std::string_view> Next(size_t bytes_max) = 0;
};

// Threads: one at a time. One that is destroyed before it finished leaves nothing behind.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // INVALID_ARGUMENT: more bytes than the digest says.
  virtual absl::Status Append(std::string_view bytes) = 0;
  // Does what BlobStore::Put does with the bytes that were appended. INVALID_ARGUMENT: they are not
  // the digest's.
  virtual absl::Status Finish() = 0;
};

}  // namespace galley::store
