// ReceivedReports: which reports of a worker's process were seen, and which of them are not
// acknowledged yet.
// Cost: O(log reports).
// Threads: none; owned by Worker.
#pragma once

#include <cstddef>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "director/core/events.h"
#include "director/core/ids.h"

namespace galley::director {

class ReceivedReports {
 public:
  // False: the report was seen before.
  bool See(ReportId report);
  // True: no report up to this one waits for a commit, or has to be sent again. A worker sends its
  // reports in order, without those that an earlier director acknowledged.
  bool IsSettled(ReportId report) const;
  // The worker has a new process, whose reports come after `persisted`.
  void BeginSession(ReportId persisted);

  // The reports seen that ended an attempt (WorkerReport::Ended), with the attempt.
  absl::btree_map<ReportId, AttemptId> ended;
  absl::btree_set<ReportId> unacknowledged;  // seen, and waiting for a commit
  // Reports whose commit failed: taken again when they are sent again.
  absl::btree_set<ReportId> uncommitted;

 private:
  // A missing report is given up when so many later ones were seen.
  static constexpr size_t kBeyondMax = 1024;
  ReportId seen_up_to_ = 0;         // reports up to this, except for given-up ones
  absl::btree_set<ReportId> seen_;  // beyond seen_up_to_
};

}  // namespace galley::director
