// StandingFacts: the facts on which a standing rests besides files, the journal and the store
// (director/standing/standing.h). Code that keeps a standing and code that checks one both use
// these functions, so that they compare the same facts.
//
// Threads: any.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/host/cook_ask.h"
#include "director/shell/describe.h"
#include "director/shell/observed_values.h"
#include "director/standing/standing.h"

namespace galley::director {

// Returns the ask as text, without fields that have no effect on the outcome of a cook: equal texts
// ask for the same of equal projects. nullopt: the ask always needs a cook. `project`: with the
// output folder of the cook.
std::optional<std::string> TextOfAsk(const v1::CookAsk& ask, const project::Project& project);

// FactsOf returns the facts about the program, the user, the project file, the configuration and
// the cookers. The fact kProjectFileFact covers all bytes of galley.toml; another fact covers the
// file without its rules.
inline constexpr std::string_view kProjectFileFact = project::kProjectFile;
absl::StatusOr<Facts> FactsOf(const project::Project& project, const Cookers& cookers);

// Returns the variables that results observed, with their values.
Facts EnvironmentFacts(const ObservedValues& observed);
// Returns the variables of `before` with their present values for cooks (AnsweredVariables).
Facts EnvironmentNow(const Facts& before, const project::Project& project,
                     const std::map<std::string, std::string>& environment);

// Returns the tools that results observed. FAILED_PRECONDITION: a tool has changed since.
absl::StatusOr<std::vector<StandingTool>> ToolsOf(const ObservedValues& observed,
                                                  const std::string& project_root);
// Checks a tool again, and hashes it if its stamp differs. Empty: the tool is the same, and `tool`
// has its present stamp. Otherwise returns what differs.
std::string LookAgain(StandingTool& tool);

}  // namespace galley::director
