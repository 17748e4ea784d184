// Where files of the project lie on this machine, for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/project/project.h"

namespace galley::cli {

// The file of a virtual path: relative to the project's folder as people write it ("content/a.png")
// when it is below that, else absolute. An absent file is said to be where the first mount would
// have it.
std::string HostFile(const project::Project& project, std::string_view path);
// The file that a cook of `package` means by `name` where a line of a file is reported
// (common/record/source_names.h). For a generated package it is the package's own name. nullopt:
// there is no such file.
std::optional<std::string> FileOfPlace(const project::Project& project, const std::string& package,
                                       std::string_view name);
// HostFile, absolute.
std::string AbsoluteHostFile(const project::Project& project, std::string_view path);

}  // namespace galley::cli
