// The error texts of packages that a cook leaves out, and of packages that need them. A text is the
// same whether the whole project leaves the package out or only one cook does.
// Threads: none.
#pragma once

#include <string>
#include <string_view>

namespace galley::director {

// The error of a package that is asked for by its own name.
inline constexpr std::string_view kNamedAndNeverCooked =
    "is never cooked: [cook] never or --never matches it";
// The reason why a reference or a cooked input leads to no package.
inline constexpr std::string_view kIsNeverCooked = "it is never cooked ([cook] never or --never)";

// The error of a generated package that its generator does not list.
inline std::string UnlistedText(std::string_view generator) {
  return std::string(generator) +
         " does not generate it: expected it in the list of packages that its cook gives";
}
// The error of a package that reads the output of `input`, which has no result.
inline std::string InputFailedText(std::string_view input) {
  return "cooked input " + std::string(input) + " failed";
}
// The error of a package that reads the output of `input`, which is no package; `why` says why.
inline std::string NoInputText(std::string_view input, std::string_view why) {
  return "cooked input " + std::string(input) + ": expected a package: " + std::string(why);
}

}  // namespace galley::director
