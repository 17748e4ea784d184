// OutcomeStatus: the codes of a Status that ends a director or a cook. The caller decides by the
// code; the message is a complete text for people.
//
//   INVALID_ARGUMENT   the project file, or the ask, is wrong
//   CANCELLED          a person stopped the director or the cook
//   UNAVAILABLE        the machine, the store or the workers are at fault
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/status_macros.h"

namespace galley::director {

inline absl::Status WrongUse(std::string_view text) {
  return absl::InvalidArgumentError({text.data(), text.size()});
}
inline absl::Status WrongUse(const absl::Status& why) { return WrongUse(MessageOf(why)); }

inline absl::Status Interrupted(std::string_view text = "interrupted") {
  return absl::CancelledError({text.data(), text.size()});
}

inline absl::Status Infrastructure(std::string_view text) {
  return absl::UnavailableError({text.data(), text.size()});
}
inline absl::Status Infrastructure(const absl::Status& why) {
  return Infrastructure(MessageOf(why));
}
// Makes "<what>: <why>", with the failed part as `what`: "store: <why>".
inline absl::Status Infrastructure(std::string_view what, const absl::Status& why) {
  return Infrastructure(std::string(what) + ": " + MessageOf(why));
}

}  // namespace galley::director
