// Recovery: opens the index of a store and brings it up to what segments and files say.
//
// With an index that is whole, only the owner's segments are read, each from where it was indexed
// to, so that opening costs the same however much is stored. Without one, all of the owner's are.
// Workers' segments are not read: what they hold counts only when the owner adopted it, which its
// own segments say. When records are lost (damage, not a torn tail; a segment that is gone or
// shorter than it was), the loss epoch rises, and what lay there is absent.
//
// What is read there is synced before it is indexed. Where an owner before this one left the mark
// of a sync that did not go well (common/store/interface/sync_doubt.h), that says nothing: the
// log's end, and the files that it names, are written anew first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/local/index.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"

namespace galley::store {

struct Recovered {
  std::unique_ptr<Index> index;
  uint64_t loss_epoch = 0;
  uint64_t segment_next = 1;                // no segment has this number or a higher one
  std::optional<uint64_t> segment_to_fill;  // the owner's last, when it ends where the index says
  std::map<uint64_t, SegmentState> segments;
  uint64_t commits = 0;
  std::map<uint64_t, uint64_t> worker_ends;  // how long the workers' segments are
};

// REQUIRES: the caller holds the store's lock; options.sync is set.
absl::StatusOr<Recovered> Recover(const std::string& store_directory, const OpenedLayout& layout,
                                  const LocalStoreOptions& options);

// Made by the owner when it finds the index damaged: the next opening makes a new one.
std::string RebuildMarkerPath(const std::string& store_directory);

// Indexes one record of an owner's segment. Locations of adopted blobs that cannot be right (no
// such segment or file) are left out.
class RecordReplay {
 public:
  RecordReplay(const std::string& store_directory, const std::vector<SegmentListing>& segments);
  absl::Status Apply(const RecordPlace& place, const RecordHeader& header, std::string_view payload,
                     IndexBatch& batch);
  uint64_t epoch_max() const { return epoch_max_; }
  uint64_t adopted_missing() const { return adopted_missing_; }

 private:
  bool CanHold(const Digest& digest, const BlobLocation& location) const;

  const std::string directory_;
  std::map<uint64_t, uint64_t> segment_bytes_;
  uint64_t epoch_max_ = 0;
  uint64_t adopted_missing_ = 0;
};

}  // namespace galley::store
