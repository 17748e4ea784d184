#include "director/resident/shown_commands.h"

#include "common/base/errors.h"

namespace galley::director {

absl::Status ShownCommands::Show(const v1::ShowAsk& ask, Audience& audience) {
  if (run_ == nullptr) return absl::UnimplementedError("this director runs no commands");
  {
    base::MutexLock lock(mutex_);
    if (running_ >= kRunningMax)
      return ResourceExhaustedError(
          "{} commands run for others at this director now, and it runs no more at a time: ask "
          "again when one has ended",
          kRunningMax);
    ++running_;
  }
  const absl::Status shown = run_(ask, audience);
  base::MutexLock lock(mutex_);
  --running_;
  return shown;
}

}  // namespace galley::director
