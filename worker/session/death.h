// Why an executor ended, in the words of the protocol.
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
  bool was_out_of_memory = false;  // the kernel killed in this control group meanwhile
  uint64_t memory_bytes_max = 0;
  absl::Duration timeout;
  TimeUp time_up = TimeUp::kNo;  // for kTimeout
  std::string detail;            // for kProtocol and kStore
};

// Whether its package has outgrown a limit of its own: it was measured above its memory, or has
// used its time of a processor. It has not when it waited or got no processor, and when the kernel
// killed it because the control group had no memory left: others take of that, too.
bool HasOutgrown(const Death& death);

struct DeathVerdict {
  v1::Failed::Cause cause = v1::Failed::CAUSE_UNKNOWN;
  std::string error;
  bool was_killed = false;  // by a SIGKILL that nothing explains
};

// A SIGKILL that the session did not send is INFRASTRUCTURE (an operator, the machine's own reaper)
// unless the limit of the control group explains it; any other end is the cooker's crash.
DeathVerdict Judge(const Death& death);

}  // namespace galley::worker
