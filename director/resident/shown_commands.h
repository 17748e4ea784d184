// ShownCommands: runs read-only commands for clients of other machines, a few at a time.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "director/serve/client_calls.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

class ShownCommands {
 public:
  static constexpr uint32_t kRunningMax = 8;
  // Run: runs a command, and tells its output to `audience`.
  using Run = std::function<absl::Status(const v1::ShowAsk& ask, Audience& audience)>;

  // `run`: null: no command is run.
  explicit ShownCommands(Run run) : run_(std::move(run)) {}

  // UNIMPLEMENTED: no command is run here; RESOURCE_EXHAUSTED: kRunningMax commands are running.
  absl::Status Show(const v1::ShowAsk& ask, Audience& audience);

 private:
  const Run run_;
  base::Mutex mutex_;
  uint32_t running_ GALLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace galley::director
