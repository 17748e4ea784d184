// What a standing rests on beside files, the journal and the store (director/standing/standing.h):
// who keeps one and who asks for one take it from here, so that neither can forget what the other
// thinks of.
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

// All that is asked for, as text: equal texts ask for the same of equal projects. nullopt: such an
// ask is never answered without a cook. What has no effect on what a cook comes to is not in it.
// `project` has the cook's own output folder.
std::optional<std::string> TextOfAsk(const v1::CookAsk& ask, const project::Project& project);

// The program, the user, the project file, configuration and cookers. The fact kProjectFileFact is
// of all bytes of galley.toml, another one of what it says beside its rules.
inline constexpr std::string_view kProjectFileFact = project::kProjectFile;
absl::StatusOr<Facts> FactsOf(const project::Project& project, const Cookers& cookers);

// The variables that results observed, with their values.
Facts EnvironmentFacts(const ObservedValues& observed);
// Their values today, as cooks would be answered.
Facts EnvironmentNow(const Facts& before, const project::Project& project,
                     const std::map<std::string, std::string>& environment);

// The tools that results observed. FAILED_PRECONDITION: one of them is another one by now.
absl::StatusOr<std::vector<StandingTool>> ToolsOf(const ObservedValues& observed,
                                                  const std::string& project_root);
// Looks at a tool again; hashes it when its stamp is another. Empty: it is as it was, and `tool`
// has today's stamp; else what differs.
std::string LookAgain(StandingTool& tool);

}  // namespace galley::director
