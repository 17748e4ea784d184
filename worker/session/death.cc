#include "worker/session/death.h"

#include <csignal>

#include "common/base/human_bytes.h"
#include "fmt/format.h"

namespace galley::worker {

namespace {

std::string TimeText(const Death& death) {
  const int64_t ms = absl::ToInt64Milliseconds(death.timeout);
  if (death.time_up == TimeUp::kWaiting) {
    return fmt::format("hangs: it waits, and did not end within {} ms (a rule's timeout_s sets it)",
                       ms);
  }
  if (death.time_up == TimeUp::kClock) {
    return fmt::format(
        "did not end within {} ms, in which it got less than {} ms of a processor's time (a rule's "
        "timeout_s sets it)",
        absl::ToInt64Milliseconds(JobTime::ClockMax(death.timeout)), ms);
  }
  return fmt::format("did not end within {} ms of processor time (a rule's timeout_s sets it)", ms);
}

}  // namespace

bool HasOutgrown(const Death& death) {
  return death.killed_for == KilledFor::kMemory ||
         (death.killed_for == KilledFor::kTimeout && death.time_up == TimeUp::kProcessor);
}

DeathVerdict Judge(const Death& death) {
  switch (death.killed_for) {
    case KilledFor::kMemory:
      return {v1::Failed::MEMORY,
              fmt::format("it took more than {} of memory (a rule's memory sets the limit)",
                          HumanBytes(death.memory_bytes_max))};
    case KilledFor::kTimeout:
      return {v1::Failed::TIMEOUT, TimeText(death)};
    case KilledFor::kCancel:
      return {v1::Failed::CAUSE_UNKNOWN, "cancelled"};
    case KilledFor::kProtocol:
      return {v1::Failed::CRASHED, fmt::format("its executor spoke nonsense: {}", death.detail)};
    case KilledFor::kStore:
      return {v1::Failed::INFRASTRUCTURE,
              fmt::format("its output could not be stored: {}", death.detail)};
    case KilledFor::kNothing:
      break;
  }
  if (death.exit.signal == SIGKILL && death.was_out_of_memory) {
    return {v1::Failed::MEMORY,
            "was killed by the kernel, as its control group had no memory left (oom_kill)"};
  }
  if (death.exit.signal == SIGKILL) {
    return {v1::Failed::INFRASTRUCTURE,
            "its executor was killed by signal 9 (Killed), which Galley did not send", true};
  }
  return {v1::Failed::CRASHED, fmt::format("its executor ended with {}", death.exit.ToString())};
}

}  // namespace galley::worker
