// RemovedByRules: tells what a cook by the book takes away because rules changed, when that is most
// of the last root: so that a typo in a pattern is seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/store/interface/store.h"
#include "director/host/standing_cook.h"
#include "director/shell/world.h"

namespace galley::director {

// Says whether galley.toml, or what replaces it, differs from the last cook of the same ask.
// False: no such cook is known.
bool IsProjectFileAnother(const StandingAsk& ask);

struct RulesBefore {
  bool is_project_file_another = false;
  const std::vector<std::string>& failed;  // packages, sorted: their files go because they failed
};

// Returns "windows: this cook takes away 60 of the 100 files ...". Empty: no more than half of the
// files went, nothing says that rules are the reason, or the trees cannot be read.
// Cost: the difference of the trees, and the last tree when most of it differs.
std::string RemovedByRulesText(store::Store& store, const Digest& before, const Digest& after,
                               std::string_view platform, const World& world,
                               const RulesBefore& rules);

}  // namespace galley::director
