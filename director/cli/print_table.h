// PrintTable: prints lines of cells as columns on standard output, the first line as any other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace galley::cli {

// REQUIRES: all lines have as many cells as the first one. Cells are padded to the widest one of
// their column, to `width_max` at most: a longer cell moves only the rest of its own line.
void PrintTable(const std::vector<std::vector<std::string>>& lines, size_t width_max);

}  // namespace galley::cli
