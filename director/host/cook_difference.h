// CookDifference: what a cook has to look at when only a few files differ from what stands.
//
// The rest is as the last cook of the same left it: it is in the cook, in its roots and in what is
// told of it, without being looked at (CookRequested::standing).
//
// Threads: one, of whoever prepares the cook.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/host/changed_files.h"
#include "director/host/cook_notes.h"
#include "director/host/standing_cook.h"
#include "director/shell/standing_base.h"
#include "director/shell/world.h"
#include "director/standing/members.h"
#include "director/standing/standing.h"

namespace galley::director {

struct CookDifference {
  std::shared_ptr<StandingBase> base;     // its world is set when that is known
  std::vector<SelectedPackage> selected;  // what is to be looked at again
  Standing standing;                      // as it was kept
  ChangesSince changes;                   // of its files
  std::set<std::string> lay_there;        // platforms whose sandboxes were as it says (LiesThere)
};

// The difference between what stands and the files of `world`, as they are now. Changes nothing.
// FAILED_PRECONDITION: why all packages must be looked at. REQUIRES: a cook by the book; what the
// journal says of packages does not change meanwhile.
// `selected`: all that the cook asks for, sorted by name; empty: no file came or went, and no
// sidecar changed.
absl::StatusOr<CookDifference> FindDifference(const StandingAsk& ask, const World& world,
                                              const std::vector<SelectedPackage>& selected,
                                              Journal& journal, Cancellation& stop);

// The changes from the journal's base to the files of `world`, as they are now.
// FAILED_PRECONDITION: the base is not known.
absl::StatusOr<ChangesSince> ChangesOf(const World& world, const std::string& state_directory,
                                       const JournalMeta& meta, const Cancellation& stop);

// The root that lies in the platform's sandbox, if each file there is as it was when the standing
// was kept, and nobody put another one there. Cost: a stat of each.
std::optional<Digest> LiesThere(CookDifference& difference, const StandingAsk& ask,
                                const std::string& platform, Cancellation& stop);

// What is told of the packages that were not looked at. REQUIRES: a cook of that difference.
void TellTheRest(const CookDifference& difference, CookNotes& notes, Counters& counters);

// What a standing keeps beside what was told.
struct ToKeep {
  std::string members;  // of MembersAfter
  GitState git;         // of its files
};

// Keeps what a cook came to, if another cook of the same would come to the same. `sources`: the
// files as the cook found them, in the world that was there from its beginning to its end.
// `difference`: it looked at that only; null: it looked at all.
// `patches`: of the sources, when these were not all looked at; null: they were scanned.
// FAILED_PRECONDITION: why it is not kept.
absl::Status KeepStanding(const StandingAsk& ask, content::Snapshot& sources,
                          const CookNotes& notes, const CookReport& report, ToKeep keep,
                          const CookDifference* difference, const SourcePatches* patches,
                          Journal& journal);

// The table of the packages of a cook that ended well; `difference`: it looked at that only.
absl::StatusOr<MembersFile> MembersAfter(const CookNotes& notes, const ShellOutcome& outcome,
                                         const CookDifference* difference);

}  // namespace galley::director
