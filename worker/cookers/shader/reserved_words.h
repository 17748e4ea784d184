// Reserved words: the words that a target's language or library keeps for itself, and names that
// avoid them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/cookers/shader/shader_target.h"

namespace galley::worker {

// The prefix for a name that the target cannot have: "new" becomes "own_new".
inline constexpr std::string_view kOwnPrefix = "own_";

// Whether `name` is a word of the language (ESSL 3.00 to 3.20; MSL and C++14), of its library, or
// of the text that spirv-cross puts around the shader's own.
bool IsReserved(ShaderLanguage language, std::string_view name);

// The name in a text of `language` for `name` in the source. The result depends on nothing else, so
// that stages that are cooked separately agree. Two different names without `__` never become
// equal. SPIR-V keeps all names.
std::string WrittenName(ShaderLanguage language, std::string_view name);

// WrittenName for all members of a structure, none of them twice.
std::vector<std::string> WrittenMembers(ShaderLanguage language,
                                        const std::vector<std::string>& names);

}  // namespace galley::worker
