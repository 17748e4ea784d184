// Cells: a large level cut into a grid, one generated package for each cell that holds an item.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace galley::worker {

inline constexpr size_t kCellsMax = 65'536;

// (i, j) -> the items of that cell in their order: a JSON array.
using Cells = std::map<std::pair<int64_t, int64_t>, nlohmann::json>;

// Takes the items with `position` [x, y, z] out of the top-level array `items` of `value` and puts
// each into cell (floor(x / cell_size), floor(z / cell_size)); relative references in them are
// rewritten to mean the same from the generated package. Other items keep their place.
// INVALID_ARGUMENT: more than kCellsMax cells; an item too far out for its cell to have a number
// (2^31 cells from the origin). REQUIRES: cell_size > 0 and finite.
absl::StatusOr<Cells> TakeCells(nlohmann::json& value, double cell_size);

// "_gen/cell_-1_0.level"
std::string CellName(const std::pair<int64_t, int64_t>& cell);

}  // namespace galley::worker
