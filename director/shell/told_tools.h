// ToldTools: decides which files outside the mounts the director reads for workers on other
// machines, and tells them about by digest: files that programs may name. About any other file a
// worker learns nothing, and the director does not read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::director {

// Says whether the path is in normal form, and no part of it is hidden (.galley, .git, .env) or
// leads up.
bool IsPlainPath(std::string_view path);

// Says whether the director may tell about the path: a file of the system, a plain path in the
// project, or one of `programs`, the programs in the attempt's recipes. `path`: in normal form.
bool MayBeTold(std::string_view path, const std::vector<std::string>& programs);

}  // namespace galley::director
