// ToldTools: decides which files outside the mounts the director hashes for workers on other
// machines: files that programs may name. The director sends the digest of such a file. Any other
// file outside the mounts is not read, and a worker learns nothing about it.
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
