// IndexRebuild: makes a store's index anew while the store is at work.
//
// Read puts all of the log into a new index, while others still read the damaged one and write to
// it. Finish, while nobody writes an index, adds what was written meanwhile. All that was ever
// written to an index is in the synced part of the log by then, but for what only an index knows:
//   use times of results   every result counts as used now: it is not dropped for that
//   dropped sets           they are back until the next collection
//   known damage           of workers' segments it is told once more
//   loss epoch             it rises: what was there before cannot be told from the log alone
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/local/index.h"
#include "common/store/local/index_remaking.h"
#include "common/store/local/log_replay.h"
#include "common/store/local/synced_ends.h"

namespace galley::store {

class IndexRebuild {
 public:
  struct Deps {
    std::string directory;
    std::string store_id;
    uint64_t free_bytes_least = 0;
    std::function<absl::Time()> boot_time, now;
    const SyncedEnds* synced_ends = nullptr;
  };
  explicit IndexRebuild(const Deps& deps);

  // RESOURCE_EXHAUSTED and others: the machine's. `index.anew` is left, and is of no use.
  absl::Status Read();
  // The index, in the place of `index`, with this epoch or the log's, if that is higher.
  // REQUIRES: Read was OK; there is no `index`; no batch is written to any index meanwhile.
  absl::StatusOr<std::unique_ptr<Index>> Finish(uint64_t epoch);

  IndexRemaking& remaking() { return remaking_; }

 private:
  absl::Status ReadSegments();
  absl::Status ForgetGoneSegments(const std::vector<SegmentListing>& listed);

  const Deps deps_;
  IndexRemaking remaking_;
  LogReplay replay_;
  std::unique_ptr<Index> index_;
};

}  // namespace galley::store
