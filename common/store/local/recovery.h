// Recovery: opens the index of a store and updates it from segments and files.
//
// With a whole index, only the owner's segments are read, each from where it was indexed to
// (log_replay.h), so that opening costs the same however much is stored. Without an index, all of
// the owner's segments are read. A damaged index, also if the damage is found during the update, is
// moved aside and made anew at once (index_folder.h). When records are lost (by damage, not a torn
// tail; or a segment is gone or shorter than it was), the loss epoch rises, and the blobs and
// results there are absent.
//
// Records are synced before they are indexed. If an earlier owner left the mark of a failed sync
// (common/store/interface/sync_doubt.h), a new sync proves nothing: the log's end, and the files
// that the mark names, are copied first.
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
  uint64_t epoch_in_segments = 0;           // highest known epoch that a segment records
  uint64_t segment_next = 1;                // above the numbers of all segments
  std::optional<uint64_t> segment_to_fill;  // the owner's last, if it ends where the index says
  std::map<uint64_t, SegmentState> segments;
  uint64_t commits = 0;
  std::map<uint64_t, uint64_t> worker_ends;  // sizes of workers' segments
};

// REQUIRES: the caller holds the store's lock; options.sync is set.
absl::StatusOr<Recovered> Recover(const std::string& store_directory, const OpenedLayout& layout,
                                  const LocalStoreOptions& options);

}  // namespace galley::store
