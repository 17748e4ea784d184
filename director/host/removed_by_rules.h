// RemovedByRules: warns when a cook by the book removes most of the last root because rules
// changed, which may be a typo in a pattern.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/store/interface/store.h"
#include "director/host/standing_cook.h"
#include "director/shell/world.h"

namespace galley::director {

// Says whether galley.toml, or a value in its place, differs from the last cook of the same ask;
// false if there is no such cook.
bool IsProjectFileAnother(const StandingAsk& ask);

struct RulesBefore {
  bool is_project_file_another = false;
  const std::vector<std::string>& failed;  // failed packages, sorted: their files do not count
};

// Returns "windows: this cook takes away 60 of the 100 files ...". Empty: at most half of the files
// are removed, or rules are not the reason, or the trees cannot be read.
// Cost: the difference of the trees, and the last tree if a file was removed by a rule.
std::string RemovedByRulesText(store::Store& store, const Digest& before, const Digest& after,
                               std::string_view platform, const World& world,
                               const RulesBefore& rules);

}  // namespace galley::director
