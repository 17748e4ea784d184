// ToldTools: which files outside of the mounts the director talks about with workers on other
// machines: the files that programs may name, by digest. A worker that asks for another file, or
// says that it looked at another file, finds out nothing, and has the director read nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::director {

// Says whether no part of the path is hidden (.galley, .git, .env) or leads up. In normal form.
bool IsPlainPath(std::string_view path);

// Says whether the path is a file of the system, a file of the project that is not hidden (.galley,
// .git, .env), or named by a recipe. In normal form. `programs`: the programs of the attempt's
// recipes, as the recipes spell them.
bool MayBeTold(std::string_view path, const std::vector<std::string>& programs);

}  // namespace galley::director
