// What workers on other machines are told of files outside of the mounts, and may say of them: the
// digests of those that programs may name. A worker that asks for others, or says that it looked at
// others, finds out nothing, and has the director read nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::director {

// No part of the path is hidden (.galley, .git, .env) or leads up. In normal form.
bool IsPlainPath(std::string_view path);

// A file of the system, or one of the project that is not hidden (.galley, .git, .env), or what a
// recipe names. In normal form. `programs`: those of the attempt's recipes, as they are written
// there.
bool MayBeTold(std::string_view path, const std::vector<std::string>& programs);

}  // namespace galley::director
