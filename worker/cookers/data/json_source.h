// JSON sources: parses JSON files that people wrote, strictly by RFC 8259. An error names line and
// column; many flaws that most parsers accept are errors.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace galley::worker {

// The most arrays and objects within each other.
inline constexpr size_t kJsonDepthMax = 512;
inline constexpr size_t kJsonBytesMax = size_t{256} << 20;

// INVALID_ARGUMENT, "line 3, column 7: ...": no text at all, a byte order mark, NUL, anything after
// the value, a key that an object holds twice, nesting above kJsonDepthMax, a number that no double
// holds, more than kJsonBytesMax bytes, text that is not UTF-8. Lines and columns count from 1,
// columns in bytes. An integer that fits neither int64 nor uint64 is read as the nearest double.
absl::StatusOr<nlohmann::json> ParseJsonSource(std::string_view text);

}  // namespace galley::worker
