// ChangedRules: the names for which the rules of galley.toml changed since a standing was kept.
//
// Rules are layers, in the order of the file. If no rule between the common beginning and the
// common end of the two lists matches a name, the name has the same rules as before.
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

// Returns the rules of both lists that are not in their common beginning or end.
std::vector<StandingRule> DifferingRules(const std::vector<StandingRule>& before,
                                         const std::vector<StandingRule>& now);

// Returns the files and packages that one of `rules` matches, sorted. FAILED_PRECONDITION: the
// reason why the names are not enough: a rule matches a generated package.
absl::StatusOr<std::vector<std::string>> NamesOf(const std::vector<StandingRule>& rules,
                                                 const content::Snapshot& files,
                                                 const Members& members);

}  // namespace galley::director
