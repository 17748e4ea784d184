#include "worker/session/report_outbox.h"

#include <algorithm>
#include <utility>

namespace galley::worker {

void ReportOutbox::AddReport(uint64_t attempt, v1::Report report, Haste haste) {
  haste_ = std::max(haste_, haste);
  if (report.has_ended()) ended_.insert(attempt);
  report.set_report(next_);
  report.set_attempt(attempt);
  reports_[next_++] = std::move(report);
}

void ReportOutbox::DropPersisted(uint64_t report) {
  const auto at = reports_.find(report);
  if (at == reports_.end()) return;
  if (at->second.has_ended()) ended_.erase(at->second.attempt());
  reports_.erase(at);
}

void ReportOutbox::AddUnsent(v1::FromWorker& message) {
  size_t bytes = 0;
  for (auto at = reports_.upper_bound(sent_); at != reports_.end(); ++at) {
    bytes += at->second.ByteSizeLong();
    const auto count = static_cast<size_t>(message.reports_size());
    if (count > 0 && (bytes > kReportBytesInMessageMax || count >= kReportsInMessageMax)) return;
    *message.add_reports() = at->second;
    sent_ = at->first;
  }
  haste_ = Haste::kNone;
}

}  // namespace galley::worker
