// Verifier: runs one verify: reads everything in a store, and repairs what can be repaired.
//
// Wrong blobs are quarantined, unreadable records of the log are dropped or written again, damage
// of segments is noted, and needed blobs that the index does not know are salvaged. The verify
// reads without any lock, and takes the writer's lock for each fault, when it checks again that the
// record still lies where it was read.
//
// Errors: ABORTED: the caller stopped the verify; the next verify goes on from there. Other errors
// are the machine's: wrong bytes are problems of the report, not errors.
// Threads: one, once; Maintenance lets only one run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/store/interface/store.h"
#include "common/store/local/index.h"
#include "common/store/local/maintenance/verify_cursor.h"
#include "common/store/local/maintenance/verify_pace.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

class Verifier {
 public:
  Verifier(StoreParts& store, const VerifyOptions& options)
      : store_(store), options_(options), pace_(store, options, cursor_) {}

  absl::StatusOr<VerifyReport> Run();

 private:
  // Suspect: a blob whose bytes were wrong when they were read.
  struct Suspect {
    LocatedBlob blob;
    std::optional<FileStat> file;  // before the read; nullopt: gone, or in a segment
    std::string why;
  };
  // Entry: a record of the log, by the index.
  struct Entry {
    Digest key;
    RecordPlace place;
    std::string why;
  };

  void TakeUpCursor();
  absl::Status RunPhases();
  // The phases, in their order.
  absl::Status Blobs();
  absl::Status Log();
  absl::Status Roots();
  absl::Status Segments();
  absl::Status Salvage();

  absl::Status Check(const LocatedBlob& blob);
  std::optional<FileStat> FileOf(const LocatedBlob& blob) const;
  absl::Status Settle();
  absl::Status SettleAndSave();
  absl::Status List(const KeyRange& range, std::vector<Entry>& entries) const;
  absl::Status Drop(const std::vector<Entry>& wrong);
  absl::Status DropOne(const Entry& entry, IndexBatch& index);
  absl::Status WriteAndLose(IndexBatch& index) GALLEY_REQUIRES(store_.writer.mutex());
  absl::Status Segment(uint64_t number, const SegmentState& state);
  absl::StatusOr<std::vector<DamagedRange>> NewDamage(uint64_t number, const SegmentState& state);
  absl::Status Relog();

  StoreParts& store_;
  const VerifyOptions& options_;
  VerifyCursor cursor_;
  VerifyPace pace_;
  bool is_resumed_ = false;
  std::vector<Suspect> suspects_;
};

}  // namespace galley::store
