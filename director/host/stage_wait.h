// StageWait: makes the lines of a cook that waits for another process to release its sandbox.
#pragma once

#include <string>
#include <utility>

#include "absl/time/time.h"

namespace galley::director {

// Threads: none.
class StageWait {
 public:
  explicit StageWait(std::string sandbox) : sandbox_(std::move(sandbox)) {}

  // Returns the line that is due at `now`, of a monotonic clock: one at once, and then one every
  // 30 s. Empty: no line is due.
  std::string LineAt(absl::Time now);

 private:
  std::string sandbox_;
  absl::Time next_ = absl::InfinitePast();
};

}  // namespace galley::director
