// RootOfDifference: a platform's root made from the last one by what the packages came to that were
// looked at again.
//
// It is the root that a cook of all packages would come to, or none: whatever might change what
// else is in the cook, or what is told of it, is refused: a package that failed and does no longer,
// or the other way round; a reference that is gone, whose target nobody selects; another list of
// generated packages; cooked inputs that are not read any more; outputs that may be in conflict; a
// package that comes into the cook and is read by one that is not looked at; a root without a file.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/shell/instigator_notes.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/standing_base.h"

namespace galley::director {

// ReferenceSets: what a package leads to, and how; before the cook, and now.
struct ReferenceSets {
  using Set = std::set<std::pair<std::string, InstigatorCategory>>;
  Set before, now;
};
using ReferencesOf = std::map<std::string, ReferenceSets>;  // by package
// Of all platforms together.
void Merge(const ReferencesOf& from, ReferencesOf& into);
std::vector<InstigatorChange> ChangesOf(const ReferencesOf& references);
// Packages that went have no reasons any more.
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
  // Whether the cook asks for the package itself. It may take long, and is asked for few.
  std::function<bool(const std::string& package)> selects;
};

// Puts the folders into the store. `platform`: its name. Any error: why all packages must be looked
// at. Blocking. Cost: that of the packages in `request`, and of the folders of their outputs.
absl::StatusOr<DifferenceRoot> RootOfDifference(const DifferenceDeps& deps,
                                                const BuildRoot& request,
                                                const std::string& platform);

}  // namespace galley::director
