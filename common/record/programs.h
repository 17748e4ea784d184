// Programs that cookers start: the program of a recipe, and the system files that a program may
// report. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/record/recipe.h"
#include "common/record/result.h"

namespace galley::record {

// The cooker whose jobs start programs.
inline constexpr std::string_view kProgramCooker = "command";

// The folders in which a program is searched whose name has no '/'.
inline constexpr std::string_view kSearchPath = "/usr/local/bin:/usr/bin:/bin";

// argv[0]; empty: the recipe starts no program.
std::string ProgramOf(const Recipe& recipe);
// True: the generator of the package decides, by the cooker or the settings that it gives, which
// programs the package's cook starts. False: the project's rules decide.
bool NamesPrograms(const Generated& generated);
// True: a file of the system, by its absolute path. A program of a project may read and report such
// files.
bool IsSystemFile(std::string_view path);

}  // namespace galley::record
