// StandingFacts: what a standing rests on beside files, the journal and the store
// (director/standing/standing.h): code that keeps a standing and code that asks for one both take
// the facts from here, so that neither can forget a fact that the other compares.
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

// Returns everything that is asked for as text: equal texts ask for the same of equal projects.
// nullopt: such an ask is never answered without a cook. The text leaves out what has no effect on
// the outcome of a cook. `project` has the output folder of the cook.
std::optional<std::string> TextOfAsk(const v1::CookAsk& ask, const project::Project& project);

// The program, the user, the project file, configuration and cookers. The fact kProjectFileFact
// covers all bytes of galley.toml; another fact covers the file without its rules.
inline constexpr std::string_view kProjectFileFact = project::kProjectFile;
absl::StatusOr<Facts> FactsOf(const project::Project& project, const Cookers& cookers);

// Returns the variables that results observed, with their values.
Facts EnvironmentFacts(const ObservedValues& observed);
// Returns the values of these variables today, as cooks would be answered.
Facts EnvironmentNow(const Facts& before, const project::Project& project,
                     const std::map<std::string, std::string>& environment);

// Returns the tools that results observed. FAILED_PRECONDITION: a tool has changed since.
absl::StatusOr<std::vector<StandingTool>> ToolsOf(const ObservedValues& observed,
                                                  const std::string& project_root);
// Looks at a tool again; hashes it when its stamp differs. Empty: the tool is the same, and `tool`
// has today's stamp; otherwise: what differs.
std::string LookAgain(StandingTool& tool);

}  // namespace galley::director
