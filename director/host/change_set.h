// ChangeSet: the files of a project as a cook finds them, and all known changes to the files since
// the last cook of the same ask, whichever way found the changes:
//
//   stamps   of the files that stand, with a stat for each file, or less where files are watched
//   list     of a person (--changed), or of git (--changed-since)
//   scan     of all files, when neither stamps nor a list will do
//
// Changes during the cook come to its world (WorldSuccession), as the same kind of changes.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "director/host/cook_admission.h"
#include "director/host/cook_difference.h"
#include "director/host/cook_notes.h"
#include "director/host/director.h"
#include "director/host/git_files.h"
#include "director/host/standing_cook.h"
#include "director/shell/world.h"

namespace galley::director {

// GitNotes: what git says of the files of a cook.
struct GitNotes {
  GitState before;                 // state of the files that nobody looked at
  std::optional<GitLook> look;     // taken before files were looked at
  std::future<GitLook> under_way;  // the look, when nobody waits for it yet
};

struct ChangeSet {
  std::shared_ptr<World> world;  // has the changes, as far as they are known
  // The cook looks only at the difference, as far as possible.
  std::optional<CookDifference> difference;
  // No file came or went, and no sidecar or rule changed: the warnings of the last scan hold.
  bool has_same_names = false;
  // Only these paths were looked at (Covers). nullopt: all files were looked at, or their stamps.
  std::optional<std::vector<std::string>> listed;
  // Patches for the earlier stamps; nullopt: not all stamps are known.
  std::optional<SourcePatches> patches;
  GitNotes git;

  std::optional<uint64_t> CountListed() const {
    return listed ? std::optional<uint64_t>(listed->size()) : std::nullopt;
  }
  // Returns git's word on the files of `sources`, to which the cook came by these changes. Waits
  // for git. Called once.
  GitState TakeGitState(const content::Snapshot& sources, const World& now);
};

struct ChangeAsk {
  const v1::CookAsk& ask;
  const project::Project& project;  // with the output folder of the cook
  Director& director;
  CookPermit& permit;
  const StandingAsk& standing;
  std::optional<CheckedSources> checked;  // found a moment ago
};
// Says whether the cook may look only at a difference: it must be by the book, run alone, and not
// end at the first failure, because other cooks would change the journal meanwhile.
bool MayLookAtDifference(const v1::CookAsk& ask, const CookPermit& permit);

// Finds the changes in the cheapest way that works; `notes` are told which ways do not. Errors:
// outcome_status.h. REQUIRES: in CookPermit::Prepare. Everything in `ask`, and `stop`, outlives the
// set.
absl::StatusOr<ChangeSet> FindChanges(ChangeAsk ask, CookNotes& notes, Cancellation& stop);

}  // namespace galley::director
