// CookDifference: what a cook has to look at when only a few files differ from what stands.
//
// Every other package is as the last cook of the same ask left it: the package is in the
// cook, in its roots and in its messages without being looked at (CookRequested::standing).
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
  std::shared_ptr<StandingBase> base;     // its world is set when the world is known
  std::vector<SelectedPackage> selected;  // the packages to look at again
  Standing standing;                      // as it was kept
  ChangesSince changes;                   // of the standing's files
  std::set<std::string> lay_there;  // platforms with a sandbox as the standing says (LiesThere)
};

// Finds the difference between what stands and the present files of `world`. Changes nothing.
// FAILED_PRECONDITION: the reason why all packages must be looked at. REQUIRES: a cook by the book;
// the journal's records of packages do not change meanwhile.
// `selected`: all that the cook asks for, sorted by name; empty: no file came or went, and no
// sidecar changed.
absl::StatusOr<CookDifference> FindDifference(const StandingAsk& ask, const World& world,
                                              const std::vector<SelectedPackage>& selected,
                                              Journal& journal, Cancellation& stop);

// Returns the changes from the journal's base to the present files of `world`. FAILED_PRECONDITION:
// the base is not known.
absl::StatusOr<ChangesSince> ChangesOf(const World& world, const std::string& state_directory,
                                       const JournalMeta& meta, const Cancellation& stop);

// Returns the root in the platform's sandbox, if each file there is as it was when the standing was
// kept, and nobody put another file there. Cost: a stat of each file.
std::optional<Digest> LiesThere(CookDifference& difference, const StandingAsk& ask,
                                const std::string& platform, Cancellation& stop);

// Tells about the packages that were not looked at. REQUIRES: a cook of that difference.
void TellTheRest(const CookDifference& difference, CookNotes& notes, Counters& counters);

// ToKeep: what a standing keeps in addition to the messages.
struct ToKeep {
  std::string members;  // of MembersAfter
  GitState git;         // of the standing's files
};

// Keeps the outcome of a cook, if another cook of the same ask would have the same outcome.
// `sources`: the files as the cook found them, in the world that was there from its start to its
// end. `difference`: the cook looked only at this; null: the cook looked at everything.
// `patches`: of the sources, when not all sources were looked at; null: the sources were scanned.
// FAILED_PRECONDITION: the reason why the outcome is not kept.
absl::Status KeepStanding(const StandingAsk& ask, content::Snapshot& sources,
                          const CookNotes& notes, const CookReport& report, ToKeep keep,
                          const CookDifference* difference, const SourcePatches* patches,
                          Journal& journal);

// Returns the table of the packages of a cook that ended well; `difference`: the cook looked only
// at this.
absl::StatusOr<MembersFile> MembersAfter(const CookNotes& notes, const ShellOutcome& outcome,
                                         const CookDifference* difference);

}  // namespace galley::director
