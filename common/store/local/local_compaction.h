// Compactor: a part of LocalStore's collection (local_compaction.cc).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/store/local/local_store.h"

namespace galley::store {

absl::Status CheckCancelled(const GcOptions& options);

// One run. Under collect_mutex_.
class LocalStore::Compactor {
 public:
  Compactor(LocalStore& store, const GcOptions& options) : store_(store), options_(options) {}

  absl::Status Run();

  // Of segments that went, and of what was written again for it.
  uint64_t freed_bytes() const { return freed_bytes_; }
  uint64_t moved_bytes() const { return moved_bytes_; }

 private:
  struct LiveRecord {
    uint64_t offset = 0;
    RecordKind kind{};
    Digest key;
    uint64_t span = 0;
    uint64_t written_s = 0;
    std::vector<LocatedBlob> adopted;
    uint32_t used_hours = 0;  // of results
  };
  // Nothing in it is live.
  struct Left {
    SegmentListing segment;
    FileDescriptor file;                      // its lock
    absl::Time since = absl::InfinitePast();  // when something was moved from it; sessions' clock
  };

  absl::Status UnlessFull(const absl::Status& status);
  absl::StatusOr<std::map<uint64_t, uint64_t>> Weigh();
  absl::Status LeaveWorkers(const SegmentListing& segment, const Holders& holders);
  absl::Status LeaveLog(std::vector<SegmentListing> log, const std::map<uint64_t, uint64_t>& live);
  bool IsClosed(uint64_t number);
  absl::Status Leave(const SegmentListing& segment, FileDescriptor file,
                     std::span<const LiveRecord> records);
  absl::StatusOr<std::vector<LiveRecord>> LiveOf(uint64_t segment);
  absl::StatusOr<std::vector<LiveRecord>> StillLive(uint64_t segment,
                                                    std::vector<LiveRecord> records);
  absl::Status Move(uint64_t segment, std::span<const LiveRecord> given);
  absl::Status MoveOne(uint64_t segment, const LiveRecord& record, IndexBatch& index)
      GALLEY_REQUIRES(store_.commit_mutex_);
  absl::Status GiveUpDamaged();
  absl::Status Remove();
  static absl::Time WrittenAt(const std::string& path);

  LocalStore& store_;
  const GcOptions& options_;
  std::vector<Left> left_;
  uint64_t freed_bytes_ = 0, moved_bytes_ = 0;
};

}  // namespace galley::store
