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

// (i, j) -> a JSON array with the items of that cell, in their order.
using Cells = std::map<std::pair<int64_t, int64_t>, nlohmann::json>;

// Takes the items with `position` [x, y, z] out of the top-level array `items` of `value` and puts
// each into cell (floor(x / cell_size), floor(z / cell_size)). Relative references in the items are
// rewritten to mean the same from the generated package. Items without a position keep their place.
// INVALID_ARGUMENT: more than kCellsMax cells, or an item 2^31 cells or more from the origin.
// REQUIRES: cell_size > 0 and finite.
absl::StatusOr<Cells> TakeCells(nlohmann::json& value, double cell_size);

// "_gen/cell_-1_0.level"
std::string CellName(const std::pair<int64_t, int64_t>& cell);

}  // namespace galley::worker
