// The error text of two packages that want one path in the tree. The core writes one text for each
// of the two packages; the code that groups failures for people reads the texts.
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
