// ChoosePackages: chooses the packages that a cook of a difference looks at, by the observations in
// the journal and by the standing.
//
// Threads: one; the journal does not change meanwhile.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/changes.h"
#include "common/project/project.h"
#include "director/core/catalog.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/standing_base.h"
#include "director/standing/members.h"
#include "director/standing/standing.h"

namespace galley::director {

// Returns the base of a cook that starts from `standing`.
std::shared_ptr<StandingBase> BaseOf(const Standing& standing, Members members);

// Returns false for a name that is no package, such as a folder that cannot be read.
bool IsPackage(const Catalog& catalog, const std::string& name);

// ChangedProject: the present state of the project.
struct ChangedProject {
  const Catalog& catalog;
  bool has_cultures = false;  // [cook] cultures: a cook of a difference is by the book
  const std::vector<project::Pattern>& never;  // [cook] never
  // Names for which the rules changed, sorted.
  std::vector<std::string> of_other_rules;
};

// Returns the packages to look at after `changes`, and fills in StandingBase::before and gone.
// FAILED_PRECONDITION: the reason why all packages must be looked at.
// `selected`: all that the cook asks for, sorted by name; empty: the same as in the standing,
// because no file came or went, and no sidecar changed.
absl::StatusOr<std::vector<SelectedPackage>> ChoosePackages(
    const Standing& standing, const ChangedProject& project,
    const std::vector<content::Change>& changes, const std::vector<SelectedPackage>& selected,
    Journal& journal, StandingBase& base);

}  // namespace galley::director
