// ChangeSet: the files of a project at the start of a cook, and the known changes since the last
// cook of the same ask. The changes come from one of these:
//
//   stamps   the standing's table of stamps, with a stat for each file that is not watched
//   list     the list of a person (--changed) or of git (--changed-since)
//   scan     a scan of all files, when neither stamps nor a list is enough
//
// WorldSuccession adds the changes during the cook.
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

// GitNotes: git's state of the files of a cook.
struct GitNotes {
  GitState before;                 // the state that the standing kept
  std::optional<GitLook> look;     // taken before files were looked at
  std::future<GitLook> under_way;  // `look`, while git still runs
};

struct ChangeSet {
  std::shared_ptr<World> world;  // World::since has the changes, if known
  // Set: the cook looks only at this difference.
  std::optional<CookDifference> difference;
  // True: no file came or went, and no sidecar changed, so the warnings of the last scan hold.
  bool has_same_names = false;
  // The only paths that were looked at. nullopt: all files, or their stamps, were looked at.
  std::optional<std::vector<std::string>> listed;
  // Patches for the earlier stamps; nullopt: not all stamps are known.
  std::optional<SourcePatches> patches;
  GitNotes git;

  std::optional<uint64_t> CountListed() const {
    return listed ? std::optional<uint64_t>(listed->size()) : std::nullopt;
  }
  // Returns git's state of the files of `sources`. Waits for git. Called once.
  GitState TakeGitState(const content::Snapshot& sources, const World& now);
};

struct ChangeAsk {
  const v1::CookAsk& ask;
  const project::Project& project;  // with the output folder of the cook
  Director& director;
  CookPermit& permit;
  const StandingAsk& standing;
  std::optional<CheckedSources> checked;  // a check that was just made
};
// Says whether the cook may look only at a difference: it must be by the book, must not end at the
// first failure, and must run alone, because other cooks change the journal.
bool MayLookAtDifference(const v1::CookAsk& ask, const CookPermit& permit);

// Finds the changes in the cheapest way that works, and tells `notes` why a list was not used.
// Errors: outcome_status.h. Everything in `ask`, and `stop`, outlives the ChangeSet. REQUIRES: in
// CookPermit::Prepare.
absl::StatusOr<ChangeSet> FindChanges(ChangeAsk ask, CookNotes& notes, Cancellation& stop);

}  // namespace galley::director
