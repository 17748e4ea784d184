// Death: why an executor ended, in the words of the protocol.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "common/base/child_process.h"
#include "galley/v1/worker.pb.h"
#include "worker/session/job_time.h"

namespace galley::worker {

enum class KilledFor { kNothing, kMemory, kTimeout, kCancel, kProtocol, kStore };

struct Death {
  ExitStatus exit;
  KilledFor killed_for = KilledFor::kNothing;
  bool was_out_of_memory = false;  // meanwhile the kernel killed a process of this control group
  uint64_t memory_bytes_max = 0;
  absl::Duration timeout;
  TimeUp time_up = TimeUp::kNo;  // for kTimeout
  std::string detail;            // for kProtocol and kStore
};

// Whether the executor's package has outgrown a limit of its own: its memory was measured above the
// limit, or it has used its processor time. It has not if it waited or got no processor, or if the
// kernel killed it because the control group had no memory left: others use that memory, too.
bool HasOutgrown(const Death& death);

struct DeathVerdict {
  v1::Failed::Cause cause = v1::Failed::CAUSE_UNKNOWN;
  std::string error;
  bool was_killed = false;  // by a SIGKILL without an explanation
};

// A SIGKILL that the session did not send is INFRASTRUCTURE (an operator, the machine's own
// reaper), unless the limit of the control group explains it. Any other end is the cooker's crash.
DeathVerdict Judge(const Death& death);

}  // namespace galley::worker
