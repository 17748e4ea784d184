#include "director/cli/parse_time.h"

#include <charconv>
#include <cstdint>
#include <string>

#include "common/base/errors.h"

namespace galley::cli {

absl::StatusOr<absl::Duration> ParseAge(std::string_view text) {
  uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error == std::errc()) {
    if (unit == "m") return absl::Minutes(count);
    if (unit == "h") return absl::Hours(count);
    if (unit == "d") return absl::Hours(24) * count;
    if (unit == "w") return absl::Hours(24 * 7) * count;
  }
  return InvalidArgumentError("`{}` is no time: a number and m, h, d or w, like 30d", text);
}

absl::StatusOr<absl::Time> ParseTime(std::string_view text, absl::Time now) {
  if (const auto age = ParseAge(text); age.ok()) return now - *age;
  for (const char* format : {"%Y-%m-%d%ET%H:%M:%E*S%Ez", "%Y-%m-%d%ET%H:%M:%E*S",
                             "%Y-%m-%d %H:%M:%E*S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    absl::Time time;
    std::string wrong;
    if (absl::ParseTime(format, std::string(text), absl::LocalTimeZone(), &time, &wrong))
      return time;
  }
  return InvalidArgumentError(
      "`{}` is no time: expected one like 2026-11-27T10:00:00Z, \"2026-11-27 10:00\", "
      "2026-11-27, or an age like 2h",
      text);
}

}  // namespace galley::cli
