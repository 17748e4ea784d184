// RETURN_IF_ERROR and ASSIGN_OR_RETURN: the packaged abseil is too old to have them.
//
//   RETURN_IF_ERROR(file.Sync());
//   ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
//
// Annotate(status, "loading /Game/x.png") puts one phrase in front of the message: each layer adds
// one, from the outside in.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace galley {

inline absl::Status Annotate(const absl::Status& status, std::string_view phrase) {
  if (status.ok() || phrase.empty()) return status;
  std::string text(phrase);
  text += ": ";
  text += std::string_view(status.message().data(), status.message().size());
  return absl::Status(status.code(), text);
}

// The text of a status for people: the message, or the name of the code if there is no message.
inline std::string MessageOf(const absl::Status& status) {
  return status.message().empty() ? std::string(absl::StatusCodeToString(status.code()))
                                  : std::string(status.message().data(), status.message().size());
}

}  // namespace galley

#define GALLEY_CONCAT_INNER(a, b) a##b
#define GALLEY_CONCAT(a, b) GALLEY_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                                           \
  do {                                                                                        \
    if (absl::Status galley_status = (expression); !galley_status.ok()) return galley_status; \
  } while (false)

#define ASSIGN_OR_RETURN(target, expression) \
  GALLEY_ASSIGN_OR_RETURN(GALLEY_CONCAT(galley_statusor_, __LINE__), target, expression)
#define GALLEY_ASSIGN_OR_RETURN(temporary, target, expression) \
  auto temporary = (expression);                               \
  if (!temporary.ok()) return temporary.status();              \
  target = std::move(temporary).value()

// GALLEY_CHECK: ends the process if a condition is false that only a bug can break; always on.
#define GALLEY_CHECK(condition)                                                        \
  do {                                                                                 \
    if (!(condition)) ::galley::internal::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)

namespace galley::internal {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace galley::internal
