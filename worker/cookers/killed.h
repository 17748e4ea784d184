// KilledError: a program of the job was ended by a SIGKILL that Galley did not send. As a rule the
// machine sent the signal for want of memory. The job is tried again; when only this package's
// programs keep being killed, the package fails (docs/operating.md, "Killed by SIGKILL").
//
// The code is UNAVAILABLE, as for every error that another attempt or another machine may not have.
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
