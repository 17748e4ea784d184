// ChangeSet: the files of a project as a cook finds them, and all that is known of what changed in
// them since the last cook of the same, whichever way that was found out:
//
//   stamps   of the files that stand, with a stat for each, or less where they are watched
//   list     of a person (--changed), or of git (--changed-since)
//   scan     of all files, when the others do not go
//
// What changes while the cook runs comes to its world (WorldSuccession), as the same kind of
// changes.
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

// GitNotes: the word of git on the files of a cook.
struct GitNotes {
  GitState before;                 // of the files that nobody looked at
  std::optional<GitLook> look;     // before files were looked at
  std::future<GitLook> under_way;  // the same, when nobody waits for it
};

struct ChangeSet {
  std::shared_ptr<World> world;              // with the changes, as far as they are known
  std::optional<CookDifference> difference;  // the cook looks at that alone, as far as that goes
  // No file came or went, and no sidecar or rule is another one: what was told of the last scan
  // holds.
  bool has_same_names = false;
  // Covers: only these paths were looked at. nullopt: all files were, or their stamps.
  std::optional<std::vector<std::string>> listed;
  std::optional<SourcePatches>
      patches;  // to the stamps of before; nullopt: not all stamps are known
  GitNotes git;

  std::optional<uint64_t> CountListed() const {
    return listed ? std::optional<uint64_t>(listed->size()) : std::nullopt;
  }
  // The word of git for the files of `sources`, to which the cook came by these changes. Waits for
  // git. Once.
  GitState TakeGitState(const content::Snapshot& sources, const World& now);
};

struct ChangeAsk {
  const v1::CookAsk& ask;
  const project::Project& project;  // with the cook's own output folder
  Director& director;
  CookPermit& permit;
  const StandingAsk& standing;
  std::optional<CheckedSources> checked;  // a moment ago
};
// The cook looks at what differs only when it is by the book, runs alone, and does not end at the
// first failure: others would change what the journal says meanwhile.
bool MayLookAtDifference(const v1::CookAsk& ask, const CookPermit& permit);

// Finds the changes by the cheapest way that goes; `notes` are told which does not. Errors:
// outcome_status.h. REQUIRES: in CookPermit::Prepare. All of `ask` and `stop` outlive the set.
absl::StatusOr<ChangeSet> FindChanges(ChangeAsk ask, CookNotes& notes, Cancellation& stop);

}  // namespace galley::director
