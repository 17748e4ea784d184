// LogReplay: puts the records of the owner's segments into an index, from where each segment was
// indexed to.
//
// Workers' segments are not read: their blobs count only if the owner adopted them, which its own
// segments say. Locations of adopted blobs that cannot be right (no such segment or file) are left
// out. A record may be read twice, which is harmless: the last record of each key counts.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/local/index.h"
#include "common/store/local/layout.h"

namespace galley::store {

// SegmentTail: the part of an owner's segment that is not indexed yet.
struct SegmentTail {
  uint64_t segment = 0;
  uint64_t end = 0;    // of the part to read
  SegmentState state;  // as indexed
};

class LogReplay {
 public:
  struct Deps {
    std::string directory;
    std::string store_id;
    // Called when something is lost, before the index says so.
    std::function<absl::Status()> on_loss;
    // Returns the use time of results whose use time is unknown, in hours since 1970; 0: never.
    std::function<uint32_t()> used_hours;
    // Called for each record that was read, with its bytes. May be empty.
    std::function<void(uint64_t bytes)> on_read;
  };
  explicit LogReplay(Deps deps) : deps_(std::move(deps)) {}

  // Returns the tails of `segments`. `ends`: for the segments that are being filled; nothing after
  // these ends is read. Notes in `index` the segments without anything to read.
  absl::StatusOr<std::vector<SegmentTail>> FindTails(const std::vector<SegmentListing>& segments,
                                                     const std::map<uint64_t, uint64_t>& ends,
                                                     Index& index);
  // REQUIRES: tails are read in the order of their segments.
  absl::Status Read(const SegmentTail& tail, Index& index);
  // Notes in `index` the least length of workers' segments, by the blobs that were adopted from
  // them.
  absl::Status NoteAdopted(Index& index);

  uint64_t epoch_max() const { return epoch_max_; }

 private:
  absl::Status NoteBadHeader(const SegmentListing& segment, const absl::Status& status,
                             Index& index);
  absl::Status Apply(const RecordPlace& place, const RecordHeader& header, std::string_view payload,
                     IndexBatch& batch);
  absl::Status ApplyAdopted(std::string_view payload, IndexBatch& batch);
  bool CanHold(const Digest& digest, const BlobLocation& location);

  const Deps deps_;
  std::map<uint64_t, uint64_t> segment_bytes_;
  std::map<uint64_t, uint64_t> adopted_ends_;
  uint64_t epoch_max_ = 0;
  uint64_t adopted_missing_ = 0;
};

}  // namespace galley::store
