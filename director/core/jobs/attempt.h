// Attempt: one hand-over of a package to a worker.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/ids.h"

namespace galley::director {

struct Attempt {
  PackageId package;
  WorkerId worker;
  uint32_t platform_set = 0;  // at the hand-over; of `granted` and of reports
  PlatformMask granted = 0;
  PlatformMask remaining = 0;  // not reported yet; in the present set while current
  uint32_t epoch = 0;          // of the catalog at the hand-over
  uint64_t content = 0;        // PackageData::content at the hand-over
  bool is_current = true;
  uint32_t group = 0;
  absl::Duration expected;
  absl::Duration saved;  // time that warm inputs at the worker save
  absl::Duration measured;
  bool is_partial = false;  // other attempts made some platforms, so `measured` is only a part
  bool is_loaded = false;
  absl::Duration load;     // duration of the load
  uint32_t saves = 0;      // saves that the attempt reported
  bool is_split = false;   // some platforms went to other attempts, but may go on here
  bool is_backup = false;  // a second attempt beside a straggler
  // In an outrun attempt: platforms that other attempts made, until their results are durable.
  PlatformMask in_doubt = 0;
  bool is_alone = false;    // no other job ran meanwhile (exclusive_run.h)
  bool is_earlier = false;  // of an earlier term, and not taken over yet
  // The worker may never report the end of the attempt (Attempts::ForgetLater).
  bool is_unheard = false;
  ReportId told_up_to = 0;  // the bytes of reports up to this one are counted
};

// Placement: where WorkerChoice sends a job.
struct Placement {
  WorkerId worker;       // invalid: no worker can take the job now
  absl::Duration saved;  // by inputs that are warm at the worker
};

// Tell: the message to the worker when the core ends an attempt. kNothing: there is no message.
// kRetract: the attempt goes on if it has begun. kCancel: the attempt is stopped.
enum class Tell : uint8_t { kNothing, kRetract, kCancel };

}  // namespace galley::director
