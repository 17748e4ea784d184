// Breaker: decides whether a remote store is asked at all. After failures in a row the store is
// only probed, at growing intervals, until it answers. Pure.
//
//   closed --3 failures in a row, or failing for 30 s--> open --a probe answered--> closed
//
// A failure is a call whose tries are exhausted; an answer is any answer of the server, also a
// refusal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace galley::store {

struct BreakerOptions {
  int failures_max = 3;                            // in a row
  absl::Duration failing_max = absl::Seconds(30);  // since the first failure in a row
  absl::Duration probe_first = absl::Seconds(1);   // after the opening; then doubled each time
  absl::Duration probe_most = absl::Seconds(60);
};

class Breaker {
 public:
  explicit Breaker(const BreakerOptions& options = {}) : options_(options) {}

  bool is_open() const { return opened_.has_value(); }
  // Returns the time of the opening; InfinitePast: closed.
  absl::Time opened() const { return opened_.value_or(absl::InfinitePast()); }
  const std::string& reason() const { return reason_; }  // of the last failure

  // True: the breaker is open, and the caller must probe, and report by Answered or Failed. Other
  // callers do not wait: the breaker stays open until then.
  bool TakeProbe(absl::Time now);
  void Answered();
  void Failed(absl::Time now, std::string_view reason);

 private:
  const BreakerOptions options_;
  int failures_ = 0;
  absl::Time failing_since_;
  std::optional<absl::Time> opened_;
  absl::Time next_probe_;
  absl::Duration probe_wait_;
  std::string reason_;
};

}  // namespace galley::store
