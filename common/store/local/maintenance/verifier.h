// Verifier: reads everything in a store, and puts right what can be put right: one verify.
//
// Wrong blobs are quarantined, entries of the log that cannot be read are dropped or written again,
// damage of segments is noted, and what is wanted and lies there unknown is known again. It reads
// without any lock, and takes the writer's for what it has found wrong, when it looks again whether
// that still lies where it was read.
//
// Errors: ABORTED: the caller stopped it; the next one goes on from there. Else those of the
// machine: wrong bytes are no errors but problems of the report.
// Threads: one, once; Maintenance sees to it that only one runs.
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
    std::optional<FileStat> file;  // before it was read; none: it was gone, or is in a segment
    std::string why;
  };
  // Entry: a record of the log, as the index has it.
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
