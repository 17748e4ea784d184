// ParseTime: times and ages as people type them.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace galley::cli {

// Parses "30m", "12h", "7d", "2w". INVALID_ARGUMENT says what is expected.
absl::StatusOr<absl::Duration> ParseAge(std::string_view text);
// Parses "2026-11-27T10:00:00Z", "2026-11-27 10:00", "2026-11-27" (the last two by this machine's
// clock), or an age before `now`.
absl::StatusOr<absl::Time> ParseTime(std::string_view text, absl::Time now);

}  // namespace galley::cli
