// ChangedRules: finds the names whose rules in galley.toml changed since a standing was kept.
//
// Rules are layers, in the order of the file. Rules in the common prefix or the common suffix of
// the two lists did not change, so only names that another rule matches may have other rules.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/snapshot.h"
#include "common/project/project.h"
#include "director/standing/members.h"
#include "director/standing/standing.h"

namespace galley::director {

std::vector<StandingRule> RulesOf(const project::Project& project);

// Returns the rules of both lists that are in neither the common prefix nor the common suffix.
std::vector<StandingRule> DifferingRules(const std::vector<StandingRule>& before,
                                         const std::vector<StandingRule>& now);

// Returns the files and packages that one of `rules` matches, sorted. FAILED_PRECONDITION, with the
// reason: the names are not enough, because a rule matches a generated package.
absl::StatusOr<std::vector<std::string>> NamesOf(const std::vector<StandingRule>& rules,
                                                 const content::Snapshot& files,
                                                 const Members& members);

}  // namespace galley::director
