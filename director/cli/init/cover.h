// Cover: a short list of globs that match certain files and no others. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace galley::init {

// Returns a glob that matches `path`: `*`, `?`, `[`, `{` and the like become `?`.
std::string AsGlob(std::string_view path);

// Returns globs that match the files of `chosen` and no others of `all`: whole folders if all their
// files are chosen, otherwise files by name, with the names of a folder in braces. `all`: the
// virtual paths of all files whose names match `name_glob`, such as "*.png". REQUIRES: `chosen` is
// a part of `all`.
std::vector<std::string> Cover(const std::set<std::string>& all,
                               const std::set<std::string>& chosen, std::string_view name_glob);

}  // namespace galley::init
