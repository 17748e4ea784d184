// RetrySchedule: when to make a call to a remote store again. Pure.
//
//   RetrySchedule schedule(options, seed);
//   while (true) {
//     status = Call();
//     const std::optional<absl::Duration> wait = schedule.Next(status, hint);
//     if (!wait) return status;
//     Pause(*wait);
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace galley::store {

struct RetryOptions {
  int tries_max = 5;  // the first included
  absl::Duration first = absl::Milliseconds(50);
  absl::Duration most = absl::Seconds(5);
  double factor = 2;
  // Makes every wait longer or shorter by at most this fraction, so that clients do not come in
  // step.
  double jitter = 0.5;
  absl::Duration hint_max = absl::Seconds(30);  // of the server's hint
};

// True: another try may succeed, since the server or the network failed, not the request.
// Source: the error table of remote_execution.proto, and the codes that Bazel retries.
bool IsWorthRetrying(absl::StatusCode code);

class RetrySchedule {
 public:
  RetrySchedule(const RetryOptions& options, uint64_t seed);

  // Returns the wait before the next call, after a call that ended with `status`; nullopt: the
  // status is final. `hint`: the server's google.rpc.RetryInfo, the least wait, up to `hint_max`.
  std::optional<absl::Duration> Next(const absl::Status& status,
                                     std::optional<absl::Duration> hint = std::nullopt);

 private:
  const RetryOptions options_;
  std::mt19937_64 random_;
  int tries_ = 0;
  absl::Duration next_;
};

}  // namespace galley::store
