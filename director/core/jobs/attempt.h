// Attempt: one hand-over of a package to a worker.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/ids.h"

namespace galley::director {

struct Attempt {
  PackageId package;
  WorkerId worker;
  uint32_t platform_set = 0;  // at the hand-over: `granted` and reports are of this set
  PlatformMask granted = 0;
  PlatformMask remaining = 0;  // not reported yet; of the present set while the attempt is current
  uint32_t epoch = 0;          // of the catalog at the hand-over
  uint64_t content = 0;        // PackageData::content at the hand-over
  bool is_current = true;
  uint32_t group = 0;
  absl::Duration expected;
  absl::Duration saved;  // part of `expected` that warm inputs at the worker save
  absl::Duration measured;
  bool is_partial = false;  // other attempts did some platforms: `measured` is not of the whole
  bool is_loaded = false;
  absl::Duration load;     // how long the load took
  uint32_t saves = 0;      // saves that the attempt reported
  bool is_split = false;   // other attempts have some platforms, which may go on here all the same
  bool is_backup = false;  // the attempt runs beside the attempt that it backs up
  // In an outrun attempt: the platforms that others made, until these are durable.
  PlatformMask in_doubt = 0;
  bool is_alone = false;    // nothing else was in hand meanwhile (exclusive_run.h)
  bool is_earlier = false;  // of an earlier term, and not taken for a hand-over of this term
  // The worker may never say that the attempt ended (Attempts::ForgetLater).
  bool is_unheard = false;
  ReportId told_up_to = 0;  // the attempt's last report whose bytes are counted
};

// Placement: where WorkerChoice sends a job.
struct Placement {
  WorkerId worker;       // invalid: no worker can take the job now
  absl::Duration saved;  // since inputs are warm at the worker
};

// The word that a worker gets about an attempt that ends.
enum class Tell : uint8_t { kNothing, kRetract, kCancel };

}  // namespace galley::director
