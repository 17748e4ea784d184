// Attempt: one hand-over of a package to a worker.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/ids.h"

namespace galley::director {

struct Attempt {
  PackageId package;
  WorkerId worker;
  uint32_t platform_set = 0;  // when it was handed over: `granted` and reports are of that set
  PlatformMask granted = 0;
  PlatformMask remaining = 0;  // not reported yet; of today's set while it is current
  uint32_t epoch = 0;          // of the catalog when it was handed over
  uint64_t content = 0;        // of the package then
  bool is_current = true;
  uint32_t group = 0;
  absl::Duration expected;
  absl::Duration saved;  // of that, since inputs were warm at its worker
  absl::Duration measured;
  bool is_partial = false;  // others did some of it: `measured` is not of the whole
  bool is_loaded = false;
  absl::Duration load;        // what that took
  uint32_t saves = 0;         // that it reported
  bool is_split = false;      // others have some of it, which may go on here all the same
  bool is_backup = false;     // beside the one that it backs up
  PlatformMask in_doubt = 0;  // of one that was outrun: what others made, until it is durable
  bool is_alone = false;      // nothing else was in hand while it was (exclusive_run.h)
  bool is_earlier = false;    // of an earlier term, and not taken for a hand-over of this one
  bool is_unheard = false;    // its worker may never say that it ended (Attempts::ForgetLater)
  ReportId told_up_to = 0;    // of its reports, whose bytes are counted
};

// Where a job goes, as WorkerChoice finds it.
struct Placement {
  WorkerId worker;       // invalid: none can take it now
  absl::Duration saved;  // since inputs are warm there
};

// The word that a worker gets about an attempt that ends.
enum class Tell : uint8_t { kNothing, kRetract, kCancel };

}  // namespace galley::director
