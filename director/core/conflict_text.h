// The text of a conflict over an output's path: the core writes the text for each of the two
// packages, and the code that groups failures for people reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace galley::director {

struct ConflictParts {
  std::string_view path;    // the path in the tree of the failed package's output
  std::string_view other;   // the other package
  std::string_view reason;  // "both have this path"
};

std::string ConflictText(const ConflictParts& parts);
// The parts are views into `text`. nullopt: the text is not about a conflict.
std::optional<ConflictParts> ReadConflict(std::string_view text);

}  // namespace galley::director
