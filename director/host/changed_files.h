// ChangedFiles: the files that differ from the files of a standing. The standing's table of stamps
// finds them without a scan, with a stat for each file that is not watched.
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

// Returns the paths of a host file in a snapshot: one path for each mount that shows the file.
std::vector<std::string> PathsOf(const content::Snapshot& files, const std::string& host_path);

// SourcePatches: the present stamps of all sources, as differences from the stamps of a table.
struct SourcePatches {
  std::string ask;     // ask of the standing that owns the table
  std::string stamps;  // id of the table
  std::vector<content::StampPatch> patches;
};

class ChangedFiles {
 public:
  // Finds the files. FAILED_PRECONDITION: the reason why all files must be looked at: there is no
  // standing, something besides files differs, a file came or went, or many files differ.
  // `checked`: a check of the stamps that was just made; nullopt: Find checks them.
  static absl::StatusOr<ChangedFiles> Find(const StandingAsk& ask, const JournalMeta& meta,
                                           std::optional<CheckedSources> checked,
                                           Cancellation& stop);

  // Returns the virtual paths of files whose bytes or stamps differ. `base`: the snapshot of the
  // standing's base table, which has the paths.
  std::vector<std::string> PathsIn(const content::Snapshot& base) const;
  // Checks that the changed files have the same stats in `now` as when the stamps were checked.
  // FAILED_PRECONDITION: a file differs.
  absl::Status Hold(const content::Snapshot& now) const;

  // Returns every stamp that differs from the table.
  SourcePatches patches() const { return {standing_.ask, standing_.source_stamps, patches_}; }

 private:
  Standing standing_;
  std::vector<content::StampPatch> patches_;
};

}  // namespace galley::director
