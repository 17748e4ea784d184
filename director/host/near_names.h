// NearNames: suggests existing names in place of a name that does not exist, for errors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace galley::director {

// Returns the part behind the last slash.
inline std::string_view LastSegment(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the fewest letters to insert, remove or change until `name` matches `pattern`, a glob
// without braces or a name; case does not count. A result above `limit` only means "more than the
// limit". A `[...]` counts as a `?`.
size_t EditsUntilMatch(std::string_view pattern, std::string_view name, size_t limit);

// Returns at most three of `names`, the nearest to `pattern` first: names that match except for
// some letters, and names whose last segment matches, which count as three edits. Equally near
// names are in the order of `names`.
//
// A comparison takes some microseconds, and each alternative of braces is compared with each name:
// alternatives that would need more than `comparisons_max` comparisons in all are left out.
inline constexpr size_t kComparisonsMax = 1'000'000;
std::vector<std::string> NearNames(std::string_view pattern, std::span<const std::string> names,
                                   size_t comparisons_max = kComparisonsMax);

// Returns "", "; did you mean /A?" or "; the nearest are /A, /B and "c"": names that are no paths
// are quoted, to set them apart from the sentence.
std::string NearText(std::span<const std::string> near);

}  // namespace galley::director
