// PackagePlace: facts about one package from the project on disk: which rule or sidecar chose its
// cooker, and why a name is no package. Looks only at the files of the package, without a scan.
#pragma once

#include <optional>
#include <string>

#include "common/project/cooker_choice.h"
#include "common/project/project.h"

namespace galley::cli {

// nullopt: no rule and no sidecar chooses a cooker. Always nullopt for a generated package, whose
// generator may have named a cooker.
std::optional<project::CookerChoice> ChoiceOf(const project::Project& project,
                                              const std::string& package);

// Says why no cook takes `package` today: its file does not exist, no rule matches it, it is never
// cooked. Empty: a cook takes the package when something asks for it, or it is generated.
std::string WhyNotCooked(const project::Project& project, const std::string& package);

}  // namespace galley::cli
