// Compactor: the part of a collection that removes segments with few live bytes.
//
// The live records of such a segment are written again at the end of the owner's log, synced and
// indexed; then the segment is removed. Any worker's segment may go. The owner's segments are the
// log, which has to be complete without the index, so they go only from the first on, in order.
// Therefore a record that cancels another, such as kForgotten, never goes before the cancelled
// record, and need not be written again.
//
// A session that knows a location may still read there: a segment is removed only when all sessions
// began after the last live record was moved out. Until then the segment stays without live
// records, and the next collection finds it.
//
// Plan chooses segments, counting all that is about to be dropped as dead; it changes nothing, and
// estimates the outcome. MakeRoom and Run then carry out the plan; the sweep comes between the two.
//
// Errors: as Collector's. A segment stays if there is no space for its live records.
// Threads: one, with Maintenance's lock of collections held.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/holders.h"
#include "common/store/local/maintenance/live_records.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

// Too many bytes are dead above this part of the live bytes: 1 / kDeadShare.
inline constexpr uint64_t kDeadShare = 5;

class Compactor {
 public:
  // `is_after_cook`: do nothing unless too many bytes are dead, and move a bounded amount.
  Compactor(StoreParts& store, const GcOptions& options, const Coverage& coverage,
            bool is_after_cook)
      : store_(store), options_(options), coverage_(coverage), is_after_cook_(is_after_cook) {}

  absl::Status Plan(const Dropped& dropped);
  // Begins a new segment if the segment that is being filled, or the segment with the highest
  // number, is to go.
  absl::Status MakeRoom();
  absl::Status Run();

  // Whether the plan removes a segment, and whether too many bytes stay dead after it.
  bool has_chosen() const { return !chosen_.empty() || chosen_log_ > 0; }
  bool HasTooMuchDead() const;
  // Bytes of removed segments, and bytes that were written again for that; before Run: as planned.
  uint64_t freed_bytes() const { return freed_bytes_; }
  uint64_t moved_bytes() const { return moved_bytes_; }

 private:
  // Weighed: the live bytes of a segment, estimated or exact.
  struct Weighed {
    SegmentListing segment;
    uint64_t live_bytes = 0;
    bool is_exact = false;  // the segment was read
    uint64_t dead_bytes() const {
      return segment.size_bytes > live_bytes ? segment.size_bytes - live_bytes : 0;
    }
  };
  // Left: a segment without live records.
  struct Left {
    SegmentListing segment;
    FileDescriptor file;                      // holds the segment's lock
    absl::Time since = absl::InfinitePast();  // when the last record was moved out; sessions' clock
  };

  absl::Status UnlessFull(const absl::Status& status);
  absl::Status List(const Dropped& dropped, const Holders& holders);
  absl::StatusOr<std::vector<LiveRecord>> LiveIn(uint64_t segment, const Dropped& dropped);
  absl::Status Estimate(Weighed& segment, const Dropped& dropped);
  absl::Status Read(Weighed& segment, const Dropped& dropped);
  absl::StatusOr<std::map<uint64_t, uint64_t>> Weigh(const Dropped& dropped);
  absl::StatusOr<bool> IsOwners(uint64_t segment,
                                const std::map<uint64_t, SegmentState>& states) const;
  bool IsLeft(uint64_t segment, const Holders& holders) const;
  static bool IsWorse(const Weighed& one, const Weighed& other);
  bool HasRoomFor(uint64_t worker_bytes, uint64_t log_bytes) const;
  void ChooseWorkers(absl::FunctionRef<bool(const Weighed&)> is_worth,
                     const std::optional<Weighed>& than = std::nullopt);
  size_t LogEnd(uint64_t dead_share);
  Weighed LogBegin(size_t end) const;
  uint64_t LiveBytes() const;
  uint64_t DeadBytes() const;
  void Foretell(const Holders& holders);
  bool IsChosen(uint64_t number) const;
  bool IsHeld(const SegmentListing& segment, absl::Time since, const Holders& holders) const;
  void CopyWhatIsReported(uint64_t segment);
  absl::Status LeaveWorkers(const SegmentListing& segment);
  absl::Status LeaveLog();
  bool IsClosed(uint64_t number);
  absl::Status Leave(const SegmentListing& segment, FileDescriptor file,
                     std::span<const LiveRecord> records);
  absl::Status Move(uint64_t segment, std::span<const LiveRecord> given);
  absl::Status MoveOne(uint64_t segment, const LiveRecord& record, IndexBatch& index)
      GALLEY_REQUIRES(store_.writer.mutex());
  absl::Status GiveUpDamaged();
  absl::Status Remove();
  static absl::Time WrittenAt(const std::string& path);

  StoreParts& store_;
  const GcOptions& options_;
  const Coverage coverage_;
  const bool is_after_cook_;
  std::vector<Weighed> workers_;  // workers' segments that nobody appends to
  std::vector<Weighed> log_;      // all of the owner's segments, in order
  std::vector<Weighed> others_;   // workers' segments that have to stay
  std::vector<Weighed> chosen_;   // of workers_
  uint64_t chosen_bytes_ = 0;     // live bytes of chosen_
  size_t chosen_log_ = 0;         // number of segments at the beginning of log_ that go
  uint64_t highest_ = 0;          // highest number of a segment
  uint64_t file_bytes_ = 0;       // of live blobs that are files
  std::vector<Left> left_;
  uint64_t freed_bytes_ = 0, moved_bytes_ = 0;
};

}  // namespace galley::store
