// The facts about one package that the project on disk tells: who chose its cooker, and why a name
// is no package at all. No scan: the files of that one package are looked at.
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

// Why no cook takes `package` today: its file is not there, no rule matches it, it is never cooked.
// Empty: a cook takes it when something asks for it, or it is generated.
std::string WhyNotCooked(const project::Project& project, const std::string& package);

}  // namespace galley::cli
