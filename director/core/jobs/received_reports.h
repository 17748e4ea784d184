// ReceivedReports: the reports of a worker's process that were seen, and the reports among them
// that wait for an answer.
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
  // True: no report up to this one waits for a commit, or has to be sent again. A worker sends
  // reports in order, but leaves out the reports that another director acknowledged.
  bool IsSettled(ReportId report) const;
  // Another process took the worker's place: the new process numbers its reports anew, after
  // `persisted`.
  void BeginSession(ReportId persisted);

  // Final reports that were seen, and the attempts that they end.
  absl::btree_map<ReportId, AttemptId> ended;
  absl::btree_set<ReportId> unacknowledged;  // seen, and waiting for a commit
  // Reports that were seen, but whose commit failed: taken again when they are sent again.
  absl::btree_set<ReportId> uncommitted;

 private:
  // A missing report is given up when more reports than this were seen after it.
  static constexpr size_t kBeyondMax = 1024;
  ReportId seen_up_to_ = 0;         // reports 1 to this, except for reports that are never sent
  absl::btree_set<ReportId> seen_;  // beyond seen_up_to_
};

}  // namespace galley::director
