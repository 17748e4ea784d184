// When a call to a remote store is made again, and after how long. Pure.
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
  // A wait is this part longer or shorter, so that clients do not come in step.
  double jitter = 0.5;
  absl::Duration hint_max = absl::Seconds(30);  // of what a server asks for
};

// Another try may succeed: the server or the way to it failed, not what was asked for.
// Source: the error table of remote_execution.proto, and what Bazel takes for retriable.
bool IsWorthRetrying(absl::StatusCode code);

class RetrySchedule {
 public:
  RetrySchedule(const RetryOptions& options, uint64_t seed);

  // After a call that ended with `status`: how long to wait before the next; nothing: it is final.
  // `hint`: the server's google.rpc.RetryInfo, waited for at least, as far as `hint_max`.
  std::optional<absl::Duration> Next(const absl::Status& status,
                                     std::optional<absl::Duration> hint = std::nullopt);

 private:
  const RetryOptions options_;
  std::mt19937_64 random_;
  int tries_ = 0;
  absl::Duration next_;
};

}  // namespace galley::store
