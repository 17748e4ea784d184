// ChangedRules: for which names other rules of galley.toml hold than when a standing was kept.
//
// Rules are layers, in the order of the file: a name that none of the rules between the common
// beginning and the common end of the two lists matches has the same ones as before.
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

// The rules of both lists that are not in their common beginning or end.
std::vector<StandingRule> DifferingRules(const std::vector<StandingRule>& before,
                                         const std::vector<StandingRule>& now);

// The files and the packages that one of `rules` matches, sorted. FAILED_PRECONDITION: why that is
// not enough to say: a generated package is among them.
absl::StatusOr<std::vector<std::string>> NamesOf(const std::vector<StandingRule>& rules,
                                                 const content::Snapshot& files,
                                                 const Members& members);

}  // namespace galley::director
