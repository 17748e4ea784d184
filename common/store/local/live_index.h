// LiveIndex: the index of an open store, which heals (common/rocks/healing.h). A call that finds it
// damaged moves it aside, makes another index from segments and files, and goes on with that.
//
//   index.With(&Index::Blobs, digests)                      asks
//   index.Walk(&Index::ForEachBlob, range, visit)           visits entries
//   index.Write(batch)                                      changes
//
// Calls that do not meet the damage go on with the old index, even while it is replaced. If a call
// finds damage in an index that was made a moment ago, the machine is faulty: the call returns an
// error, and this process makes no further index.
//
// A new index takes its place only when all segments are in it. While an index is made, or after
// that failed, nothing may be removed because an index does not know it: a caller that removes
// something takes a Coverage first, and asks before each step whether the Coverage still holds.
//
// Errors are the machine's, never DATA_LOSS: if no other index can be made, the error names the
// path of the damaged index, and the next owner makes one.
// Threads: any; heal_mutex_, then write_mutex_. Takes no lock of the store, so a caller may hold
// any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/rocks/healing.h"
#include "common/store/local/index.h"
#include "common/store/local/index_rebuild.h"

namespace galley::store {

// Coverage: proof that the index had all segments when a caller began to choose what to remove.
class Coverage {
 private:
  friend class LiveIndex;
  explicit Coverage(uint64_t generation) : generation_(generation) {}
  uint64_t generation_;
};

class LiveIndex final : private rocks::Healing<Index> {
 public:
  LiveIndex(std::unique_ptr<Index> index, IndexRebuild::Deps deps)
      : Healing(std::move(index)), deps_(std::move(deps)) {}

  // Reads all files of the index, and heals it if needed.
  absl::StatusOr<Coverage> Cover();
  // ABORTED: another index was made since, or is being made: the caller has to choose again.
  absl::Status StillCovers(const Coverage& coverage) const;

  using Healing::With;
  // Visits the entries of a range. If the index is replaced meanwhile, the walk goes on in the new
  // index after the last visited key. An error of `visit` ends the walk and heals nothing.
  template <typename Entry>
  absl::Status Walk(absl::Status (Index::*each)(const KeyRange&, const Index::Visit<Entry>&),
                    const KeyRange& range, const std::type_identity_t<Index::Visit<Entry>>& visit) {
    KeyRange left = range;
    absl::Status stopped;
    const absl::Status walked = With([&](Index& index) {
      const absl::Status status =
          (index.*each)(left, [&](const Digest& key, const Entry& entry) -> absl::Status {
            if (left.after != key) {
              left.after = key;
              --left.keys_max;
            }
            return stopped = visit(key, entry);
          });
      return stopped.ok() ? status : absl::OkStatus();
    });
    return stopped.ok() ? walked : stopped;
  }
  template <typename Entry>
  absl::Status Walk(absl::Status (Index::*each)(const KeyRange&, const Index::Visit<Entry>&),
                    const std::type_identity_t<Index::Visit<Entry>>& visit) {
    return Walk(each, KeyRange(), visit);
  }
  // Writes the batch; gives it a higher epoch if its epoch was reported to anybody meanwhile.
  absl::Status Write(IndexBatch& batch);

  uint64_t epoch() const { return Current()->epoch(); }
  uint64_t disputed_epoch() const { return Current()->disputed_epoch(); }
  IndexCounters counters() const { return Current()->counters(); }

 private:
  absl::Status Remake(Index& damaged, const absl::Status& damage) override
      GALLEY_REQUIRES(heal_mutex_);
  absl::Status DescribeDamageAgain(const absl::Status& damage) override
      GALLEY_REQUIRES(heal_mutex_);
  absl::Status MakeFromSegments(Index& damaged) GALLEY_REQUIRES(heal_mutex_);
  absl::Status WriteTo(Index& index, IndexBatch& batch) GALLEY_REQUIRES(write_mutex_);

  const IndexRebuild::Deps deps_;
  absl::Status given_up_ GALLEY_GUARDED_BY(heal_mutex_);
  std::string aside_ GALLEY_GUARDED_BY(heal_mutex_);  // path of the last damaged index
  base::Mutex write_mutex_;  // held while a batch is written or the index is replaced
};

}  // namespace galley::store
