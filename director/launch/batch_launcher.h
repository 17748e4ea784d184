// The launcher of workers that a batch system brings up (BatchSystem). Workers that are asked for
// within kGather become one launch.
//
// A command of the system has kCommandMax to end, and may print kOutputMax; else it failed, and the
// end of what it said is in the error. A launch whose submission failed is ended by its name all
// the same: a command that reports a failure may have submitted it.
//
// While workers are out the system is asked about them 2, 4, 8, ... seconds after the last
// submission, at most each kLookMax. A worker of which it knows nothing twice is gone; so is one of
// a system that cannot be asked, after kUnseenMax, unless it has attached by then.
//
// The end of all launches together has kEndMax, at the end of a director and at its beginning. What
// was not ended by then, or could not be, keeps its record.
//
// A launch has a record <folder>/<name> (mode 0600) for as long as it may be there: what a director
// that died left, or could not end, is ended by the next one. One that nobody could end for
// kRecordAgeMax is given up: its workers have long ended without a director.
//
// What waits and will not start by itself (TaskView::advice) is told once for each launch and
// reason.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "director/launch/batch_system.h"
#include "director/launch/launcher.h"
#include "director/launch/ticket.h"

namespace galley::director {

struct BatchOptions {
  std::string folder;                              // of records and tickets; it is made
  std::string project;                             // for the names of launches
  std::function<absl::StatusOr<Ticket>()> ticket;  // of a launch; without token and names
};

inline constexpr absl::Duration kGather = absl::Milliseconds(20);
inline constexpr absl::Duration kCommandMax = absl::Seconds(30);
inline constexpr size_t kOutputMax = 16 << 20;
inline constexpr absl::Duration kLookMax = absl::Seconds(30);
inline constexpr absl::Duration kUnseenMax = absl::Minutes(15);
inline constexpr absl::Duration kEndMax = absl::Seconds(20);
inline constexpr absl::Duration kRecordAgeMax = absl::Hours(7 * 24);

std::unique_ptr<Launcher> CreateBatchLauncher(std::unique_ptr<BatchSystem> system,
                                              BatchOptions options, LaunchCallbacks callbacks);

}  // namespace galley::director
