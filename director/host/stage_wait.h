// The lines of a cook that waits while another process has the sandbox that it is to stage to.
#pragma once

#include <string>
#include <utility>

#include "absl/time/time.h"

namespace galley::director {

// Threads: none.
class StageWait {
 public:
  explicit StageWait(std::string sandbox) : sandbox_(std::move(sandbox)) {}

  // The line that is due at `now`, of a clock that never goes back: at once, and again after each
  // 30 s. Empty: none is.
  std::string LineAt(absl::Time now);

 private:
  std::string sandbox_;
  absl::Time next_ = absl::InfinitePast();
};

}  // namespace galley::director
