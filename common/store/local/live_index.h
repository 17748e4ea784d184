// LiveIndex: the index of a store that is open, which heals (common/rocks/healing.h). When a call
// finds it damaged, that call moves it aside, makes another one from segments and files, and goes
// on with it.
//
//   index.With(&Index::Blobs, digests)                      asks
//   index.Walk(&Index::ForEachBlob, range, visit)           visits entries
//   index.Write(batch)                                      changes
//
// Calls that do not meet the damage go on with the old index, also those that are in the middle of
// reading it when it is replaced. Damage that a call finds in an index that was made for it a
// moment ago is the machine's doing, and an error: no further one is made in this process.
//
// An index takes its place only when all segments are in it. While one is made, and after that
// failed, nothing may be removed because an index does not know it: whoever removes something takes
// a Coverage first, and asks before each step whether it still holds.
//
// Errors are the machine's, never DATA_LOSS: when no other index can be made, the error says where
// the damaged one lies, and the next owner makes one.
// Threads: any; heal_mutex_, then write_mutex_. No lock of the store is taken, so a call may be
// made under any.
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

// An index that has all segments, as it was when somebody began to find out what may be removed.
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

  // Reads all files of the index, and heals it where that is needed.
  absl::StatusOr<Coverage> Cover();
  // ABORTED: another index was made since, or is being made: find out again what may be removed.
  absl::Status StillCovers(const Coverage& coverage) const;

  using Healing::With;
  // Visits the entries of a range. Where the index is replaced meanwhile, the new one is asked for
  // the keys that were not visited yet. An error of `visit` ends the walk and heals nothing.
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
  // A batch whose epoch was told meanwhile gets a higher one.
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
  std::string aside_ GALLEY_GUARDED_BY(heal_mutex_);  // where the last damaged one lies
  base::Mutex write_mutex_;  // held while a batch is written, or one index put in place of another
};

}  // namespace galley::store
