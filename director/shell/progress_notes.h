// ProgressNotes: what the journal is to learn of a cook that has not ended, so that the next
// director can go on with it: whom the workers have jobs from, and who was blamed. Gathered here
// until it is written, in batches; what is over before that is not written at all.
//
// No I/O. Threads: none; owned by the shell's loop. The simulation's director keeps them, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "director/core/events.h"
#include "director/journal/journal.h"

namespace galley::director {

class ProgressNotes {
 public:
  void Give(AttemptRecord given);
  void NoteOver(const WorkerReported& reported);
  void NoteBlame(const std::string& package, const PackageBlamed& blamed);

  // The last batch is long enough ago.
  bool IsDue(absl::Time now) const { return now - taken_ >= kInterval; }
  // One batch, to be written behind all that was committed up to now. What is over goes behind the
  // results that it brought: it is kept while `has_results` are not committed.
  JournalProgress Take(bool has_results, absl::Time now);

 private:
  static constexpr absl::Duration kInterval = absl::Milliseconds(20);
  std::map<AttemptId, AttemptRecord> given_;
  std::vector<AttemptId> over_;
  std::vector<BlameRecord> blamed_;
  absl::Time taken_ = absl::InfinitePast();
};

}  // namespace galley::director
