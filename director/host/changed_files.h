// ChangedFiles: the files that differ from those for which a cook stands, found by its table of
// stamps: with a stat for each file, or less where they are watched, and no scan.
//
// Threads: one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/content/snapshot.h"
#include "common/content/stamp_table.h"
#include "director/host/standing_cook.h"
#include "director/journal/journal.h"
#include "director/standing/standing.h"

namespace galley::director {

// Where a file of the host is in a snapshot: at a path for each mount that shows it.
std::vector<std::string> PathsOf(const content::Snapshot& files, const std::string& host_path);

// SourcePatches: how the stamps of all sources are now: those of a table, but for these.
struct SourcePatches {
  std::string ask;     // of the standing whose table that is
  std::string stamps;  // the table's id
  std::vector<content::StampPatch> patches;
};

class ChangedFiles {
 public:
  // FAILED_PRECONDITION: why all files must be looked at: there is no standing, more differs than
  // its files, a file came or went, or many differ. `checked`: what was found a moment ago.
  static absl::StatusOr<ChangedFiles> Find(const StandingAsk& ask, const JournalMeta& meta,
                                           std::optional<CheckedSources> checked,
                                           Cancellation& stop);

  // The virtual paths that are other ones in `base`, the snapshot of the standing's base table, or
  // have other stamps there.
  std::vector<std::string> PathsIn(const content::Snapshot& base) const;
  // Those are in `now` as they were when the stamps were checked. FAILED_PRECONDITION: one of them
  // is not.
  absl::Status Hold(const content::Snapshot& now) const;

  // All that has another stamp than in the table.
  SourcePatches patches() const { return {standing_.ask, standing_.source_stamps, patches_}; }

 private:
  Standing standing_;
  std::vector<content::StampPatch> patches_;
};

}  // namespace galley::director
