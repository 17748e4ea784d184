// Recovery: opens the index of a store and brings it up to what segments and files say.
//
// With an index that is whole, only the owner's segments are read, each from where it was indexed
// to (log_replay.h), so that opening costs the same however much is stored. Without one, all of the
// owner's are. An index that is damaged, which may also be found while it is brought up, is moved
// aside and made anew at once (index_folder.h). When records are lost (damage, not a torn tail; a
// segment that is gone or shorter than it was), the loss epoch rises, and what lay there is absent.
//
// Records are synced before they are indexed. Where an owner before this one left the mark of a
// sync that did not go well (common/store/interface/sync_doubt.h), that sync proves nothing: the
// log's end, and the files that the mark names, are written anew first.
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
  uint64_t epoch_in_segments = 0;           // that some segment says, as far as it is known
  uint64_t segment_next = 1;                // no segment has this number or a higher one
  std::optional<uint64_t> segment_to_fill;  // the owner's last, when it ends where the index says
  std::map<uint64_t, SegmentState> segments;
  uint64_t commits = 0;
  std::map<uint64_t, uint64_t> worker_ends;  // how long the workers' segments are
};

// REQUIRES: the caller holds the store's lock; options.sync is set.
absl::StatusOr<Recovered> Recover(const std::string& store_directory, const OpenedLayout& layout,
                                  const LocalStoreOptions& options);

}  // namespace galley::store
