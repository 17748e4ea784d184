// Glob: `*` and `?` within one segment, `**` across segments, `[...]` (ranges, `!` or `^` negates),
// `{a,b}` (nested allowed); `\` escapes nothing and is refused. Matches whole virtual paths. Pure;
// matching never takes exponential time.
//
// `**` stands alone between slashes and matches zero or more segments, but at the end one or more:
// "/Game/dev/**" matches all below /Game/dev. `?` and `[...]` match one code point. Names that
// begin with '.' are not special. Case matters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::content {

class Glob {
 public:
  // INVALID_ARGUMENT says what is wrong and where. At most 1,024 alternatives after braces are
  // expanded.
  static absl::StatusOr<Glob> Parse(std::string_view pattern);

  bool Matches(std::string_view path) const;
  const std::string& pattern() const { return pattern_; }
  // The longest leading folder without wildcards: "/Game/maps/*.level" -> "/Game/maps". Nothing
  // outside it matches.
  // "": a relative pattern begins with a wildcard, and may match anywhere.
  std::string LiteralFolder() const;

 private:
  std::string pattern_;
  std::vector<std::vector<std::string>> alternatives_;  // segments of each
};

}  // namespace galley::content
