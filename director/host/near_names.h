// NearNames: suggests existing names in place of a name that does not exist, for errors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace galley::director {

// Returns the part after the last slash.
inline std::string_view LastSegment(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the least number of letters to insert, remove or change so that `name` matches `pattern`,
// a name or a glob without braces. Ignores case; `[...]` counts as `?`. A result above `limit` is
// not exact.
size_t EditsUntilMatch(std::string_view pattern, std::string_view name, size_t limit);

// Returns at most three of `names`, the nearest to `pattern` first: names that match after a few
// edits, and names whose last segment matches, which count as three edits. Equally near names keep
// their order.
//
// Cost: each alternative of braces is compared with each name, some microseconds each. Alternatives
// beyond `comparisons_max` comparisons in total are skipped.
inline constexpr size_t kComparisonsMax = 1'000'000;
std::vector<std::string> NearNames(std::string_view pattern, std::span<const std::string> names,
                                   size_t comparisons_max = kComparisonsMax);

// Returns "", "; did you mean /A?" or "; the nearest are /A, /B and "c"", with quotes around names
// that are not absolute paths.
std::string NearText(std::span<const std::string> near);

}  // namespace galley::director
