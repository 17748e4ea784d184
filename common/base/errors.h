// Errors with a formatted text: InvalidArgumentError("{}: expected a number", name).
//
// The functions have the names of abseil's functions, which take a finished text.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace galley {

template <absl::StatusCode code>
struct FormattedError {
  template <typename... Args>
  absl::Status operator()(fmt::format_string<Args...> format, Args&&... args) const {
    return absl::Status(code, fmt::format(format, std::forward<Args>(args)...));
  }
};

inline constexpr FormattedError<absl::StatusCode::kAborted> AbortedError;
inline constexpr FormattedError<absl::StatusCode::kAlreadyExists> AlreadyExistsError;
inline constexpr FormattedError<absl::StatusCode::kCancelled> CancelledError;
inline constexpr FormattedError<absl::StatusCode::kDataLoss> DataLossError;
inline constexpr FormattedError<absl::StatusCode::kDeadlineExceeded> DeadlineExceededError;
inline constexpr FormattedError<absl::StatusCode::kFailedPrecondition> FailedPreconditionError;
inline constexpr FormattedError<absl::StatusCode::kInternal> InternalError;
inline constexpr FormattedError<absl::StatusCode::kInvalidArgument> InvalidArgumentError;
inline constexpr FormattedError<absl::StatusCode::kNotFound> NotFoundError;
inline constexpr FormattedError<absl::StatusCode::kOutOfRange> OutOfRangeError;
inline constexpr FormattedError<absl::StatusCode::kPermissionDenied> PermissionDeniedError;
inline constexpr FormattedError<absl::StatusCode::kResourceExhausted> ResourceExhaustedError;
inline constexpr FormattedError<absl::StatusCode::kUnavailable> UnavailableError;

}  // namespace galley
