// IndexRebuild: makes a store's index anew while the store is in use.
//
// Read puts the whole log into a new index, while other calls still read and write the damaged
// index. Finish adds everything that was written meanwhile, while nobody writes an index. Then the
// new index has all records of the log's synced part; only some facts that the log does not hold
// are lost:
//   use times of results   every result counts as used now, so none is dropped for its age
//   dropped sets           come back until the next collection
//   known damage           damage of workers' segments is reported once more
//   loss epoch             rises, because the log alone does not tell all earlier contents
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

  // Errors: RESOURCE_EXHAUSTED and others, the machine's; then `index.anew` stays, and is useless.
  absl::Status Read();
  // Returns the new index, which has taken the place of `index`. Its epoch is at least `epoch`, and
  // above every epoch in the log. REQUIRES: Read was OK; there is no `index`; no batch is written
  // to any index meanwhile.
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
