// LogReplay: puts into an index what the owner's segments say, each from where it was indexed to.
//
// Workers' segments are not read: what they hold counts only when the owner adopted it, which its
// own segments say. Locations of adopted blobs that cannot be right (no such segment or file) are
// left out. What is said twice may be read twice: the last word of each key counts.
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
  uint64_t end = 0;    // nothing behind it is read
  SegmentState state;  // that is indexed
};

class LogReplay {
 public:
  struct Deps {
    std::string directory;
    std::string store_id;
    // Something is lost. Called before an index says so.
    std::function<absl::Status()> on_loss;
    // When results count as used, in hours since 1970, for an index that knows no more; 0: never.
    std::function<uint32_t()> used_hours;
    // A record of so many bytes was read. May be empty.
    std::function<void(uint64_t bytes)> on_read;
  };
  explicit LogReplay(Deps deps) : deps_(std::move(deps)) {}

  // The segments that there are, and how long. `ends` are of those that are being filled: nothing
  // behind them is read. Notes in `index` those that hold nothing to be read.
  absl::StatusOr<std::vector<SegmentTail>> FindTails(const std::vector<SegmentListing>& segments,
                                                     const std::map<uint64_t, uint64_t>& ends,
                                                     Index& index);
  // REQUIRES: tails are read in the order of their segments.
  absl::Status Read(const SegmentTail& tail, Index& index);
  // Notes in `index` how long workers' segments have to be from now on, by what was adopted from
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
