#include "director/host/stage_wait.h"

#include <optional>

#include "director/stage/stage_lock.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(30);

}  // namespace

std::string StageWait::LineAt(absl::Time now) {
  if (now < next_) return "";
  next_ = now + kInterval;
  const std::optional<pid_t> holder = LockHolder(sandbox_);
  return fmt::format("waiting for another process that stages to {}{}", sandbox_,
                     holder ? fmt::format(" (process {})", *holder) : "");
}

}  // namespace galley::director
