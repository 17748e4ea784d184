// CookDifference: what a cook has to look at when only a few files differ from what stands.
//
// The rest is as the last cook of the same left it: it is in the cook, in its roots and in what is
// told of it, without being looked at (CookRequested::standing).
//
// Threads: one, of whoever prepares the cook.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/host/cook_notes.h"
#include "director/host/standing_cook.h"
#include "director/shell/standing_base.h"
#include "director/standing/members.h"
#include "director/standing/standing.h"

namespace galley::director {

struct CookDifference {
  std::shared_ptr<StandingBase> base;     // its world is set when that is known
  std::vector<SelectedPackage> selected;  // what is to be looked at again
  Standing standing;                      // as it was kept
};

// The difference between what stands and `files`, as they are now. FAILED_PRECONDITION: why all
// packages must be looked at. Changes nothing. REQUIRES: a cook by the book; what the journal says
// of packages does not change meanwhile.
absl::StatusOr<CookDifference> FindDifference(const StandingAsk& ask, content::Snapshot& files,
                                              Journal& journal, Cancellation& stop);

// What is told of the packages that were not looked at. REQUIRES: a cook of that difference.
void TellTheRest(const CookDifference& difference, CookNotes& notes, Counters& counters);

// The table of the packages of a cook that ended well; `difference`: it looked at that only.
absl::StatusOr<std::string> MembersAfter(const CookNotes& notes, const ShellOutcome& outcome,
                                         const CookDifference* difference);

}  // namespace galley::director
