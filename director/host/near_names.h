// NearNames: the names that somebody may have meant who named nothing. For errors: one pass over
// all names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace galley::director {

// The fewest letters to put in, leave out or change until `name` matches `pattern`, a glob (without
// braces) or a name; case does not count. Above `limit`: any number above it. A `[...]` is taken
// for a `?`.
size_t EditsUntilMatch(std::string_view pattern, std::string_view name, size_t limit);

// At most three of `names`, the nearest to `pattern` first: those that match but for some letters,
// then those whose last segment matches. Equally near ones are in the order of `names`.
//
// A comparison takes some microseconds, and each alternative of braces is compared with each name:
// alternatives that would need more than `comparisons_max` in all are left out.
inline constexpr size_t kComparisonsMax = 1'000'000;
std::vector<std::string> NearNames(std::string_view pattern, std::span<const std::string> names,
                                   size_t comparisons_max = kComparisonsMax);

// "", "; did you mean /A?" or "; the nearest are /A, /B and "c"": paths stand as they are, and all
// other names in quotes, since a word would read as one of the sentence.
std::string NearText(std::span<const std::string> near);

}  // namespace galley::director
