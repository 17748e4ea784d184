// ReceivedReports: which reports of a worker's process were seen, and which of them wait for an
// answer.
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
  // All reports up to this one that the worker sends were seen and are answered for good. (A worker
  // sends them in order, but leaves out those that another director acknowledged.)
  bool IsSettled(ReportId report) const;
  // Another process took the worker's place: its reports are numbered anew, from `persisted` on.
  void BeginSession(ReportId persisted);

  // The last reports of attempts (seen), each with its attempt.
  absl::btree_map<ReportId, AttemptId> ended;
  absl::btree_set<ReportId> unacknowledged;  // seen, waiting for a commit
  // Seen, but their commit failed: such a report is taken again when it is sent again.
  absl::btree_set<ReportId> uncommitted;

 private:
  static constexpr size_t kBeyondMax = 1024;  // a hole below so many is never filled
  ReportId seen_up_to_ = 0;                   // all of 1 .. this, but for those that nobody sends
  absl::btree_set<ReportId> seen_;            // beyond
};

}  // namespace galley::director
