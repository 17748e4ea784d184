// RootOfDifference: makes a platform's root from the last root and the new outcomes of the packages
// that were looked at again.
//
// The root equals the root that a cook of all packages would make; otherwise the call fails.
// RootOfDifference refuses anything that might change which other packages are in the cook, or the
// messages about them:
//
//   a package that failed and now succeeds, or the reverse
//   a lost reference to a target that the cook does not select
//   another list of generated packages
//   cooked inputs that are no longer read
//   outputs that may be in conflict
//   a package that enters the cook and is read by a package that is not looked at
//   a root without a file
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

// ReferenceSets: the packages to which a package leads, and how, before the cook and now.
struct ReferenceSets {
  using Set = std::set<std::pair<std::string, InstigatorCategory>>;
  Set before, now;
};
using ReferencesOf = std::map<std::string, ReferenceSets>;  // by package
// Adds the references of one platform, `from`, to the references of all platforms, `into`.
void Merge(const ReferencesOf& from, ReferencesOf& into);
std::vector<InstigatorChange> ChangesOf(const ReferencesOf& references);
// Adds changes that remove all reasons of packages that are gone.
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
  // Says whether the cook selects the package itself. May take long; called few times.
  std::function<bool(const std::string& package)> selects;
};

// Makes the root, and puts its changed folders into the store. After any error, all packages must
// be looked at. Blocks. `platform`: the name of the platform. Cost: linear in the packages of
// `request`, and the folders of their outputs.
absl::StatusOr<DifferenceRoot> RootOfDifference(const DifferenceDeps& deps,
                                                const BuildRoot& request,
                                                const std::string& platform);

}  // namespace galley::director
