// CookDifference: the packages that a cook has to look at when only a few files differ from a
// standing.
//
// Every other package keeps its outcome of the last cook of the same ask. It is in the cook, in its
// roots and in its messages without being looked at (CookRequested::standing).
//
// Threads: one, the thread that prepares the cook.
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
  std::shared_ptr<StandingBase> base;     // its world is set later
  std::vector<SelectedPackage> selected;  // the packages to look at again
  Standing standing;                      // as it was kept
  ChangesSince changes;                   // of the standing's files
  // Platforms whose sandboxes RootIfUnchanged found unchanged.
  std::set<std::string> unchanged_sandboxes;
};

// Finds the difference between the standing of `ask` and the present files of `world`. Changes
// nothing. FAILED_PRECONDITION: the reason why all packages must be looked at. REQUIRES: a cook by
// the book; the journal's records of packages do not change meanwhile.
// `selected`: all that the cook asks for, sorted by name; empty: the same as in the standing,
// because no file came or went, and no sidecar changed.
absl::StatusOr<CookDifference> FindDifference(const StandingAsk& ask, const World& world,
                                              const std::vector<SelectedPackage>& selected,
                                              Journal& journal, Cancellation& stop);

// Returns the changes from the journal's base to the present files of `world`. FAILED_PRECONDITION:
// the base is not known.
absl::StatusOr<ChangesSince> ChangesOf(const World& world, const std::string& state_directory,
                                       const JournalMeta& meta, const Cancellation& stop);

// Returns the root in the platform's sandbox, if the sandbox is unchanged since the standing was
// kept; otherwise nullopt. Cost: a stat of each file.
std::optional<Digest> RootIfUnchanged(CookDifference& difference, const StandingAsk& ask,
                                      const std::string& platform, Cancellation& stop);

// Tells the messages of the packages that were not looked at, and adds them to `counters`.
// REQUIRES: the cook of `difference` is over.
void TellTheRest(const CookDifference& difference, CookNotes& notes, Counters& counters);

// ToKeep: further parts of a standing.
struct ToKeep {
  std::string members;  // from MembersAfter
  GitState git;         // of the standing's files
};

// Keeps the outcome of a cook as the standing of its ask, if another cook of the ask would have the
// same outcome. FAILED_PRECONDITION: the reason why the outcome is not kept.
// `sources`: the files of the cook's world. `difference`: the cook looked only at this; null: at
// everything. `patches`: for the stamps of `sources`; null: the sources were scanned.
absl::Status KeepStanding(const StandingAsk& ask, content::Snapshot& sources,
                          const CookNotes& notes, const CookReport& report, ToKeep keep,
                          const CookDifference* difference, const SourcePatches* patches,
                          Journal& journal);

// Returns the table of the packages of a cook that ended well. `difference`: the cook looked only
// at this; null: at everything.
absl::StatusOr<MembersFile> MembersAfter(const CookNotes& notes, const ShellOutcome& outcome,
                                         const CookDifference* difference);

}  // namespace galley::director
