// SegmentWriter: what a local worker writes blobs with. It appends small blobs to a segment of its
// own and writes large ones as files (temporary name, then link), and says where they are; it never
// touches the index. Bytes are hashed here, once.
//
// Threads: one owner. Crash at any point leaves a tail that readers refuse by its checksum.
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
  // A segment is closed for writing (and another is to be allocated) when it is larger than this.
  static constexpr uint64_t kSegmentBytesMax = 256ull << 20;

  static absl::StatusOr<std::unique_ptr<SegmentWriter>> Open(const std::string& store_directory,
                                                             uint64_t segment);
  virtual ~SegmentWriter() = default;

  // RESOURCE_EXHAUSTED: no space; the segment is cut back to its last whole record.
  virtual absl::StatusOr<std::pair<Digest, BlobLocation>> Append(std::string_view bytes) = 0;
  // Small blobs whose digests the caller has just taken: they are not hashed again, and go in one
  // write. Where each lies.
  virtual absl::StatusOr<std::vector<BlobLocation>> AppendHashed(
      std::span<const BlobView> blobs) = 0;
  virtual uint64_t size_bytes() const = 0;
  // False: somebody deleted the segment, and nobody will read what is appended from here on.
  virtual bool is_linked() const = 0;
};

// Reads and verifies one blob straight from the store's files. DATA_LOSS when the bytes are wrong
// (tell the owner).
absl::StatusOr<Blob> ReadBlobAt(const std::string& store_directory, const Digest& digest,
                                const BlobLocation& location);

}  // namespace galley::store
