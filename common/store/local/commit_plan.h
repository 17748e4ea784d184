// CommitPlan: everything that one commit will write, planned before anything is written.
// CommitPlanner makes the plan from the batches that are committed together.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/record/result.h"
#include "common/store/interface/store.h"
#include "common/store/local/index.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/store_reader.h"
#include "common/store/local/store_writer.h"

namespace galley::store {

struct CommitPlan {
  // Views into a CommitBatch, which outlives the plan.
  struct SetView {
    const Digest& weak_key;
    std::string_view bytes;
  };
  std::vector<LocatedBlob> adopted;  // new blobs, to be synced and recorded
  std::vector<LocatedBlob> pending;  // blobs that were put before; their files are recorded
  std::vector<std::pair<Digest, SetPlace>> sets_known;  // sets that exist: moved to the front
  std::vector<SetView> sets;
  std::vector<const PutResult*> results;                       // in a batch or in `disputes`
  std::deque<PutResult> disputes;                              // made by the planner
  bool is_disputing = false;                                   // `results` holds a dispute
  std::vector<std::pair<Digest, std::string>> action_results;  // keys and payloads
  uint64_t bytes = 0;                                          // to be appended, about

  bool is_empty() const;
  // Returns the adopted and pending blobs that are files.
  std::vector<Digest> Files() const;
};

// CommitPlanner: plans one commit. Puts blobs that have to be copied while it plans.
// Threads: one, with the writer's lock held.
class CommitPlanner {
 public:
  CommitPlanner(StoreState& state, StoreReader& reader) : state_(state), reader_(reader) {}

  // Adds all of `batch`. INVALID_ARGUMENT: nothing was added. ALREADY_EXISTS: everything was added
  // except results whose keys have another outcome. `batch` must outlive the plan.
  absl::Status Add(const CommitBatch& batch, StoreWriter& writer) GALLEY_REQUIRES(writer.mutex());
  CommitPlan Take() { return std::move(plan_); }

 private:
  absl::Status AddBlobs(const CommitBatch& batch, StoreWriter& writer)
      GALLEY_REQUIRES(writer.mutex());
  void AddActionResults(const CommitBatch& batch);
  absl::Status AddSets(const CommitBatch& batch);
  absl::Status AddResults(const CommitBatch& batch, std::vector<record::Result> given);
  absl::Status CheckLocation(const Digest& digest, const BlobLocation& location,
                             RecordHeaders& headers) const;
  absl::Status CopyIn(const Digest& digest, const BlobLocation& location);

  StoreState& state_;
  StoreReader& reader_;
  CommitPlan plan_;
  // The following fields cover all added batches.
  std::set<Digest> adopted_digests_;
  absl::flat_hash_set<std::pair<Digest, uint64_t>> set_checksums_;
  std::deque<record::Result> results_;  // `outcomes_` points into it
  absl::flat_hash_map<Digest, const record::Result*> outcomes_;
};

}  // namespace galley::store
