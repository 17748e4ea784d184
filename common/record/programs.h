// Programs that cookers start: what a recipe says of them, and which files of a system they may
// name. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/record/recipe.h"
#include "common/record/result.h"

namespace galley::record {

// The cooker whose jobs start programs.
inline constexpr std::string_view kProgramCooker = "command";

// argv[0]; empty: the recipe starts no program.
std::string ProgramOf(const Recipe& recipe);
// Whether who generates such a package says what programs its cook starts. A package without
// settings is cooked as the project's rules say.
bool NamesPrograms(const Generated& generated);
// A program that was named may read it, and say so: a file of the system, by its absolute path.
bool IsSystemFile(std::string_view path);

}  // namespace galley::record
