// PathText: a path of instigators as a person reads it.
#pragma once

#include <string>
#include <vector>

#include "director/core/root_paths.h"

namespace galley::cli {

// Returns one step a line: "/Game/a.png", "  <- a hard reference of /Game/m.gltf", "  <- a map of
// the cook". `with_categories`: the names of the categories as in the JSON instead of words.
std::vector<std::string> PathLines(const director::RootPath& path, bool with_categories);

}  // namespace galley::cli
