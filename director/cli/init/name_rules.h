// The decisions that need no more than the name of a file. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "director/cli/init/decision.h"

namespace galley::init {

// "shaders/a.PNG" -> "a.PNG"; "a.PNG" -> "png" (lower case), "Makefile" -> "".
std::string_view FileName(std::string_view path);
std::string Extension(std::string_view path);
// "a" of "shaders/a.PNG".
std::string_view StemOf(std::string_view path);
std::string InLowerCase(std::string_view text);
// "" for a file of the tree's own folder.
std::string_view FolderOf(std::string_view path);

// The file is of a tool, or is for people: nobody has to read it. nullopt when its bytes decide.
std::optional<Decision> DecideByName(std::string_view path);

// The cooker that takes files of this extension; "" when there is none.
std::string_view CookerOf(std::string_view extension);

// Why files of this extension are copied, which no cooker takes.
std::string_view WhyCopied(std::string_view extension);

// CMakeLists.txt, a .sln and the like.
bool IsBuildFile(std::string_view path);

// A licence or credits, by its name.
bool IsLicence(std::string_view path);

// A folder of this name holds what people read: the manual, pictures of the game.
bool IsFolderForPeople(std::string_view name);
// The same, or tests and tools; it says little about where the content is.
bool IsFolderAside(std::string_view name);

}  // namespace galley::init
