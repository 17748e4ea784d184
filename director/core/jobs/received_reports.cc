#include "director/core/jobs/received_reports.h"

namespace galley::director {

bool ReceivedReports::See(ReportId report) {
  if (report <= seen_up_to_ || !seen_.insert(report).second) return false;
  while (!seen_.empty() && (*seen_.begin() == seen_up_to_ + 1 || seen_.size() > kBeyondMax)) {
    seen_up_to_ = *seen_.begin();
    seen_.erase(seen_.begin());
  }
  return true;
}

bool ReceivedReports::IsSettled(ReportId report) const {
  return (unacknowledged.empty() || *unacknowledged.begin() > report) &&
         (uncommitted.empty() || *uncommitted.begin() > report);
}

void ReceivedReports::BeginSession(ReportId persisted) {
  *this = ReceivedReports();
  seen_up_to_ = persisted;
}

}  // namespace galley::director
