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
  // True: every report up to this one that the worker sends was seen and is answered for good. A
  // worker sends reports in order, but leaves out the reports that another director acknowledged.
  bool IsSettled(ReportId report) const;
  // Another process took the worker's place: the new process numbers its reports anew, from
  // `persisted` on.
  void BeginSession(ReportId persisted);

  // The last reports of attempts that were seen, each with its attempt.
  absl::btree_map<ReportId, AttemptId> ended;
  absl::btree_set<ReportId> unacknowledged;  // seen, and waiting for a commit
  // Reports that were seen, but whose commit failed: such a report is taken again when it is sent
  // again.
  absl::btree_set<ReportId> uncommitted;

 private:
  // A hole more than this many reports back is never filled.
  static constexpr size_t kBeyondMax = 1024;
  ReportId seen_up_to_ = 0;         // all of 1 .. this, but for the reports that no worker sends
  absl::btree_set<ReportId> seen_;  // beyond seen_up_to_
};

}  // namespace galley::director
