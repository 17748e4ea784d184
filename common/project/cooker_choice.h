// CookerChoice: which place in the project chose the cooker of a package, for people. No key and no
// result holds a place: whoever reports on a package asks for it anew.
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
  // Empty: no place names one. The cooker is the one that takes the file's extension.
  std::string cooker;
  // The rule or sidecar that named the cooker last: "galley.toml:52", "/Game/a.png.cook:1".
  std::string place;
};

// `sidecar`: the bytes of "<package>.cook", if there is one. nullopt: neither rule nor sidecar
// makes `package` a package. Of a generated package: what the rules say; its generator may have
// named another cooker.
std::optional<CookerChoice> FindCookerChoice(const Project& project, std::string_view package,
                                             const std::optional<std::string>& sidecar);

}  // namespace galley::project
