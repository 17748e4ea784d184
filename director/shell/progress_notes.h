// ProgressNotes: what the journal is to learn of a cook that has not ended, so that the next
// director can go on with the cook: the attempts in the workers' hands, and the packages that were
// blamed. Notes are gathered until they are written, in batches; an attempt that ends before that
// is not written at all. The simulation's director keeps notes as well. No I/O.
//
// Threads: none; owned by the shell's loop.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/journal/journal.h"

namespace galley::director {

class ProgressNotes {
 public:
  void Give(AttemptRecord given);
  void NoteOver(const WorkerReported& reported);
  void NoteBlame(const std::string& package, const PackageBlamed& blamed);

  // Says whether the last batch is long enough ago.
  bool IsDue(absl::Time now) const { return now - taken_ >= kInterval; }
  // Takes one batch, to be written after everything that was committed up to now. The end of an
  // attempt is written after the results of the attempt: it is kept while these results are not
  // committed (`has_results`).
  JournalProgress Take(bool has_results, absl::Time now);

 private:
  static constexpr absl::Duration kInterval = absl::Milliseconds(20);
  std::map<AttemptId, AttemptRecord> given_;
  std::vector<AttemptId> over_;
  std::vector<BlameRecord> blamed_;
  absl::Time taken_ = absl::InfinitePast();
};

}  // namespace galley::director
