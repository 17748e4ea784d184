// VerdictError: the package's source, settings, platform or named files cannot be cooked. The text
// is for their author.
//
// The code is INVALID_ARGUMENT: equal inputs fail alike on every machine.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "common/base/errors.h"
#include "fmt/format.h"

namespace galley::worker {

template <typename... Args>
absl::Status VerdictError(fmt::format_string<Args...> format, Args&&... args) {
  return InvalidArgumentError(format, std::forward<Args>(args)...);
}

}  // namespace galley::worker
