// Compactor: the part of a collection for segments in which little is still live.
//
// The live records of such a segment are written again behind the owner's log, synced and indexed;
// then the segment goes. Of workers' segments any may go. The owner's are the log, which has to
// tell the whole story without the index: they go from its begin on only, in order. So a record
// that took something back never goes before what it took back, and need not be said again.
//
// Whoever knows where something lies may still read it there: a segment goes when all sessions
// began after it was left. Until then it lies there with nothing live in it, and the next
// collection finds it.
//
// First Plan chooses, with what is about to be dropped taken for dead; it changes nothing, and says
// what will come of it. MakeRoom and Run then do that; what is dropped goes between the two.
//
// Errors: as Collector's. Where there is no space for what is live in a segment, that one stays.
// Threads: one, under Maintenance's lock of collections.
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

// Too much is dead: more than this part of what lives.
inline constexpr uint64_t kDeadShare = 5;

class Compactor {
 public:
  // After a cook nothing is done unless too much is dead, and a bounded amount is moved.
  Compactor(StoreParts& store, const GcOptions& options, const Coverage& coverage,
            bool is_after_cook)
      : store_(store), options_(options), coverage_(coverage), is_after_cook_(is_after_cook) {}

  absl::Status Plan(const Dropped& dropped);
  // Begins a new segment where the one that is filled is to go, or the one with the highest number.
  absl::Status MakeRoom();
  absl::Status Run();

  // Whether anything is to go, and whether what stays has too much dead; as planned.
  bool has_chosen() const { return !chosen_.empty() || chosen_log_ > 0; }
  bool HasTooMuchDead() const;
  // Bytes of segments that went, and bytes that were written again for it; before Run: as planned.
  uint64_t freed_bytes() const { return freed_bytes_; }
  uint64_t moved_bytes() const { return moved_bytes_; }

 private:
  // Weighed: what is known of a segment before it is read.
  struct Weighed {
    SegmentListing segment;
    uint64_t live_bytes = 0;
    bool is_exact = false;  // it was read
    uint64_t dead_bytes() const {
      return segment.size_bytes > live_bytes ? segment.size_bytes - live_bytes : 0;
    }
  };
  // Left: a segment in which nothing is live any more.
  struct Left {
    SegmentListing segment;
    FileDescriptor file;                      // its lock
    absl::Time since = absl::InfinitePast();  // when something was moved from it; sessions' clock
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
  std::vector<Weighed> workers_;  // that nobody appends to any more
  std::vector<Weighed> log_;      // all of the owner's, in order
  std::vector<Weighed> others_;   // workers' that have to stay
  std::vector<Weighed> chosen_;   // of workers_
  uint64_t chosen_bytes_ = 0;     // live ones of chosen_
  size_t chosen_log_ = 0;         // so many of log_, from its begin on
  uint64_t highest_ = 0;          // number of a segment
  uint64_t file_bytes_ = 0;       // of live blobs that are files
  std::vector<Left> left_;
  uint64_t freed_bytes_ = 0, moved_bytes_ = 0;
};

}  // namespace galley::store
