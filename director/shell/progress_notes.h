// ProgressNotes: collects the journal's notes about running cooks, so that the next director can go
// on with them: the attempts in the workers' hands, and the packages that were blamed. Notes are
// written in batches; an attempt that ends before its batch is not written. The simulation's
// director keeps notes as well. No I/O.
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

  // Says whether the next batch is due.
  bool IsDue(absl::Time now) const { return now - taken_ >= kInterval; }
  // Takes a batch, to be written after everything that was committed so far. `has_results`: results
  // wait to be committed; then the ends of attempts stay for a later batch, because they must be
  // written after the results of the attempts.
  JournalProgress Take(bool has_results, absl::Time now);

 private:
  static constexpr absl::Duration kInterval = absl::Milliseconds(20);
  std::map<AttemptId, AttemptRecord> given_;
  std::vector<AttemptId> over_;
  std::vector<BlameRecord> blamed_;
  absl::Time taken_ = absl::InfinitePast();
};

}  // namespace galley::director
