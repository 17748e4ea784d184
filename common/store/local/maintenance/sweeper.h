// Sweeper: the part of a collection that drops what the collection chose.
//
// A sweep goes in small steps; each step checks again whether anybody was told meanwhile that a
// blob or result is present:
//   1. the loss epoch rises;
//   2. with ReportedPresent's lock held exclusively, blobs and results that nobody was told of are
//      *condemned*. From here on they are absent, so that a caller that wants a blob puts it again,
//      after the sweep. Files are put aside (tmp/gc.*) at once, so that nobody adopts them;
//   3. the log records the drop, and is synced;
//   4. the index forgets them, and the files that were put aside are removed.
// After a crash between 2 and 3 the next owner finds the files put aside, and puts them back; after
// 3 the log tells it what to forget.
//
// Errors: as Collector's; everything that a step has dropped is gone for good, and the rest stays.
// Threads: one, under Maintenance's lock of collections.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/store/local/maintenance/holders.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

// CANCELLED: by the collection's cancellation.
absl::Status CheckCancelled(const GcOptions& options);

class Sweeper {
 public:
  // The choice of a collection.
  struct DroppedResult {
    Digest key;
    bool is_ours = true;  // false: another program's
  };
  struct Plan {
    std::vector<std::pair<Digest, RecordPlace>> sets;  // weak keys, and places of their sets
    std::vector<DroppedResult> results;
    std::vector<LocatedBlob> blobs;
  };

  Sweeper(StoreParts& store, const GcOptions& options, const Coverage& coverage,
          const Holders& holders)
      : store_(store), options_(options), coverage_(coverage), holders_(holders) {}

  // Drops the contents of `plan`, except blobs and results that anybody was told of meanwhile.
  // `report`: its counts of dropped blobs and results are the plan's before, and the actual counts
  // after.
  absl::Status Sweep(const Plan& plan, GcReport& report);

 private:
  struct Step {
    std::vector<Digest> results, action_results;
    std::vector<LocatedBlob> blobs;
    size_t size() const { return results.size() + action_results.size() + blobs.size(); }
  };

  bool IsTold(const Digest& digest) const {
    return holders_.hold_all || store_.reported_present.WasTold(digest, holders_.since);
  }
  absl::Status SweepSets(const std::vector<std::pair<Digest, RecordPlace>>& sets);
  absl::Status RaiseEpoch();
  absl::Status Drop(Step& step, GcReport& report);
  absl::Status Condemn(Step& step) GALLEY_REQUIRES(store_.writer.mutex());
  bool PutAside(const Digest& digest);
  absl::Status Append(const Step& step) GALLEY_REQUIRES(store_.log.mutex());
  absl::Status Note(const Step& step, IndexBatch& index) GALLEY_REQUIRES(store_.writer.mutex());
  void Pardon(const Step& step);

  StoreParts& store_;
  const GcOptions& options_;
  const Coverage& coverage_;
  const Holders& holders_;
  uint64_t epoch_ = 0;  // under which the steps drop
};

}  // namespace galley::store
