// RootOfDifference: makes a platform's root from the last root and the new outcomes of the packages
// that were looked at again.
//
// The new root is the root that a cook of all packages would make, or there is none.
// RootOfDifference refuses whatever might change which other packages are in the cook, or what is
// told of other packages: a package that failed and now succeeds, or the reverse; a lost reference
// to a target that nobody selects; another list of generated packages; cooked inputs that are no
// longer read; outputs that may be in conflict; a package that enters the cook and is read by a
// package that is not looked at; a root without a file.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/shell/instigator_notes.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/standing_base.h"

namespace galley::director {

// ReferenceSets: which packages a package leads to, and how, before the cook and now.
struct ReferenceSets {
  using Set = std::set<std::pair<std::string, InstigatorCategory>>;
  Set before, now;
};
using ReferencesOf = std::map<std::string, ReferenceSets>;  // by package
// Merges the references of all platforms.
void Merge(const ReferencesOf& from, ReferencesOf& into);
std::vector<InstigatorChange> ChangesOf(const ReferencesOf& references);
// Removes the reasons of packages that went.
void AddGone(const StandingBase& base, std::vector<InstigatorChange>& changes);

struct DifferenceRoot {
  RootBuilt built;
  ReferencesOf references;  // on this platform
};

struct DifferenceDeps {
  const Sources& sources;
  const ResultTable& results;
  store::Store& store;
  Journal& journal;
  const StandingBase& base;
  // Says whether the cook asks for the package itself. A call may take long; the calls are few.
  std::function<bool(const std::string& package)> selects;
};

// Puts the folders into the store. `platform`: the name of the platform. Any error is a reason to
// look at all packages. Blocks. Cost: the packages in `request`, and the folders of their outputs.
absl::StatusOr<DifferenceRoot> RootOfDifference(const DifferenceDeps& deps,
                                                const BuildRoot& request,
                                                const std::string& platform);

}  // namespace galley::director
