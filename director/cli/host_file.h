// HostFile: the files of the project on this machine, for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/project/project.h"

namespace galley::cli {

// Returns the file of a virtual path: relative to the project's folder as people write it
// ("content/a.png") if the file lies below that folder, otherwise absolute. An absent file gets the
// path in the first mount that could have it.
std::string HostFile(const project::Project& project, std::string_view path);
// Returns the file that a cook of `package` means by `name` in a message with a line of a file
// (common/record/source_names.h). For a generated package, the result is the package's own name.
// nullopt: there is no such file.
std::optional<std::string> FileOfPlace(const project::Project& project, const std::string& package,
                                       std::string_view name);
// Returns HostFile as an absolute path.
std::string AbsoluteHostFile(const project::Project& project, std::string_view path);

}  // namespace galley::cli
