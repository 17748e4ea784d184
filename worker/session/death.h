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
  bool was_out_of_memory = false;  // the kernel killed a process of this control group meanwhile
  uint64_t memory_bytes_max = 0;
  absl::Duration timeout;
  TimeUp time_up = TimeUp::kNo;  // for kTimeout
  std::string detail;            // for kProtocol and kStore
};

// Whether the package has outgrown its own limit: its memory was measured above the limit, or it
// used up its processor time. Waiting or getting no processor does not count, nor a kill by the
// kernel because the control group, which others share, had no memory left.
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
