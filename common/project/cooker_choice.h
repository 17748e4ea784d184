// CookerChoice: the place in the project that chose the cooker of a package, for people. Keys and
// results hold no place, so each report on a package looks the place up anew.
//
// Pure.
// Cost: the globs of all rules.
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/project/project.h"

namespace galley::project {

struct CookerChoice {
  // Empty: no place names a cooker; the file's extension decides.
  std::string cooker;
  // The rule or sidecar that named the cooker last: "galley.toml:52", "/Game/a.png.cook:1".
  std::string place;
};

// `sidecar`: the bytes of "<package>.cook", if there is such a file. nullopt: neither a rule nor
// the sidecar makes `package` a package. For a generated package, only the rules count; its
// generator may have named another cooker.
std::optional<CookerChoice> FindCookerChoice(const Project& project, std::string_view package,
                                             const std::optional<std::string>& sidecar);

}  // namespace galley::project
