// Cover: a short list of globs that match certain files and no others. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace galley::init {

// `path` as a glob that matches it: `*`, `?`, `[`, `{` and the like become `?`.
std::string AsGlob(std::string_view path);

// `all`: the virtual paths of all files that `name_glob` (as "*.png") matches in some folder;
// `chosen`: some of these. The globs match what is chosen and nothing else of `all`: whole folders
// where all in them is chosen, else files by name, those of one folder in one pair of braces.
std::vector<std::string> Cover(const std::set<std::string>& all,
                               const std::set<std::string>& chosen, std::string_view name_glob);

}  // namespace galley::init
