// BatchLauncher: the launcher of workers that a batch system brings up (BatchSystem). Workers that
// are asked for within kGather become one launch.
//
// A command of the system has kCommandMax to end, and may print kOutputMax; otherwise the command
// failed, and the error has the end of its output. A launch whose submission failed is still ended
// by its name: a command that reports a failure may have submitted the launch.
//
// While workers are out, the system is asked about them 2, 4, 8, ... seconds after the last
// submission, at most each kLookMax. A worker of which the system knows nothing twice is gone; if
// the system cannot be asked, a worker is gone after kUnseenMax, unless it has attached by then.
//
// The end of all launches together has kEndMax, at the end of a director and at its beginning. A
// launch that was not ended by then, or could not be, keeps its record.
//
// A launch has a record <folder>/<name> (mode 0600) for as long as the launch may exist: the next
// director ends launches that a dead director left, or could not end. A launch that nobody could
// end for kRecordAgeMax is given up: its workers have long ended without a director.
//
// A worker that waits and will not start by itself (TaskView::advice) is told once for each launch
// and reason.
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
  std::string folder;   // holds records and tickets; the launcher makes it
  std::string project;  // for the names of launches
  // Returns the ticket of a launch; without token and names.
  std::function<absl::StatusOr<Ticket>()> ticket;
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
