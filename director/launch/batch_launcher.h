// BatchLauncher: starts workers through a batch system (BatchSystem). Workers that are asked for
// within kGather become one launch.
//
// A command of the system that runs longer than kCommandMax or prints more than kOutputMax has
// failed; the error holds the end of its output. After a failed submission the launch is still
// ended by its name, because the command may have submitted the launch.
//
// While workers are out, the launcher asks the system about them at intervals of 2, 4, 8, ... s, at
// most kLookMax; a submission starts again at 2 s. A worker that two looks in a row do not find is
// gone. A system without a command for looks: each worker counts as gone after kUnseenMax, which
// the director ignores for attached workers.
//
// Ending all launches takes at most kEndMax, when a director ends and when it begins. A launch that
// is not ended keeps its record.
//
// A launch has a record <folder>/<name> (mode 0600) for as long as the launch may exist: the next
// director ends launches that a dead director left, or could not end. A launch that nobody could
// end for kRecordAgeMax is given up: its workers have long ended without a director.
//
// on_held tells of a worker that will not start by itself (TaskView::advice), once for each launch
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
