// KilledError: a program of the job was ended by a SIGKILL that Galley did not send: by the
// machine, as a rule for want of memory, by somebody, or by itself. The job is tried again; when
// that goes on with this package only, the package fails (docs/operating.md, "Killed by SIGKILL").
//
// Its code is UNAVAILABLE, as for all that may be another time or on another machine.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace galley::worker {

inline constexpr char kKilledPayload[] = "galley/killed";

inline absl::Status KilledError(const std::string& text) {
  absl::Status status = absl::UnavailableError(text);
  status.SetPayload(kKilledPayload, absl::Cord("9"));
  return status;
}
inline bool IsKilled(const absl::Status& status) {
  return status.GetPayload(kKilledPayload).has_value();
}

}  // namespace galley::worker
