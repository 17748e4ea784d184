#include "common/base/human_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>

#include "absl/strings/numbers.h"
#include "common/base/errors.h"
#include "fmt/format.h"

namespace galley {

std::string HumanBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

absl::StatusOr<uint64_t> ParseSize(std::string_view text) {
  static const std::map<std::string_view, double> kUnits = {
      {"", 1},         {"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
      {"TiB", 0x1p40}, {"KB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end);
  std::string_view unit = text.substr(end);
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  double value = 0;
  const auto found = kUnits.find(unit);
  if (number.empty() || found == kUnits.end() ||
      !absl::SimpleAtod(absl::string_view(number.data(), number.size()), &value) ||
      value * found->second >= 0x1p63) {
    return InvalidArgumentError(
        "`{}` is no size; expected a number and KiB, MiB, GiB or TiB, as in \"4GiB\"", text);
  }
  return static_cast<uint64_t>(std::llround(value * found->second));
}

}  // namespace galley
