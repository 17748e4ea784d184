// Name rules: decisions by the name of a file alone. Pure.
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

// The decision for files of tools, licences and files for people, by name. nullopt: the bytes
// decide.
std::optional<Decision> DecideByName(std::string_view path);

// The cooker that takes files of this extension; "": no cooker does.
std::string_view CookerOf(std::string_view extension);

// Why files of this extension, which no cooker takes, are copied.
std::string_view WhyCopied(std::string_view extension);

// CMakeLists.txt, a .sln and the like.
bool IsBuildFile(std::string_view path);

// A licence or credits, by its name.
bool IsLicence(std::string_view path);

// Whether a folder of this name is for people: the manual, pictures of the game.
bool IsFolderForPeople(std::string_view name);
// Whether a folder of this name is for people, tests, tools or a platform: its files say little
// about where the content is.
bool IsFolderAside(std::string_view name);

}  // namespace galley::init
