// VerdictError: what the package is made of (its source, its settings, the platform, the files that
// it names) cannot be cooked. The text is for the person who made it.
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
