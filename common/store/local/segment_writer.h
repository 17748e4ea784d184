// SegmentWriter: writes blobs for a local worker. It hashes them, appends small blobs to a segment
// of its own, writes large blobs as files (temporary name, then link), and returns the locations;
// it never touches the index.
//
// Threads: one owner. A crash at any point leaves a tail that readers refuse by its checksum.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::store {

class SegmentWriter {
 public:
  // A larger segment is closed for writing, and the worker allocates another.
  static constexpr uint64_t kSegmentBytesMax = 256ull << 20;

  static absl::StatusOr<std::unique_ptr<SegmentWriter>> Open(const std::string& store_directory,
                                                             uint64_t segment);
  virtual ~SegmentWriter() = default;

  // RESOURCE_EXHAUSTED: no space; the segment is cut back to its last whole record.
  virtual absl::StatusOr<std::pair<Digest, BlobLocation>> Append(std::string_view bytes) = 0;
  // Appends small blobs in one write, and returns their locations. Does not hash them: the caller
  // has just computed their digests.
  virtual absl::StatusOr<std::vector<BlobLocation>> AppendHashed(
      std::span<const BlobView> blobs) = 0;
  virtual uint64_t size_bytes() const = 0;
  // False: somebody deleted the segment, and nobody will read blobs that are appended from now on.
  virtual bool is_linked() const = 0;
};

// Reads and verifies one blob directly from the store's files. DATA_LOSS: the bytes are wrong; tell
// the owner.
absl::StatusOr<Blob> ReadBlobAt(const std::string& store_directory, const Digest& digest,
                                const BlobLocation& location);

}  // namespace galley::store
