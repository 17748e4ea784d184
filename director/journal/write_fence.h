// WriteFence: a check before each durable write of a director: a director that was stopped, while
// another director took the project, writes nothing any more.
//
// Threads: as `may_write`.
#pragma once

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "common/base/sabotage.h"

namespace galley::director {

class WriteFence {
 public:
  // Without `may_write` every write is allowed.
  explicit WriteFence(std::function<absl::Status()> may_write = nullptr)
      : may_write_(std::move(may_write)) {}

  absl::Status Check() const {
    if (may_write_ == nullptr || IsSabotaged(Sabotage::kAcceptStaleTerm)) return absl::OkStatus();
    return may_write_();
  }

 private:
  std::function<absl::Status()> may_write_;
};

}  // namespace galley::director
