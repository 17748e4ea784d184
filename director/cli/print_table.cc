#include "director/cli/print_table.h"

#include <algorithm>
#include <cstdio>

#include "common/base/log.h"
#include "fmt/format.h"

namespace galley::cli {

void PrintTable(const std::vector<std::vector<std::string>>& lines, size_t width_max) {
  if (lines.empty()) return;
  std::vector<size_t> widths(lines[0].size());
  for (const std::vector<std::string>& line : lines) {
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], std::min(line[i].size(), width_max));
  }
  for (const std::vector<std::string>& line : lines) {
    std::string text;
    for (size_t i = 0; i + 1 < line.size(); ++i)
      text += fmt::format("{:<{}}  ", EscapeControl(line[i]), widths[i]);
    std::puts((text + EscapeControl(line.back())).c_str());
  }
}

}  // namespace galley::cli
