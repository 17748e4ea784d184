#include "director/shell/unwalled_runs.h"

#include <utility>

namespace galley::director {
namespace {

// File times come from the kernel's last tick, which may be earlier than the clock that we read.
constexpr absl::Duration kTick = absl::Milliseconds(20);

}  // namespace

void UnwalledRuns::Begin(AttemptId attempt, Run run) {
  running_[attempt] = forgotten_ + runs_.size();
  runs_.push_back(std::move(run));
  if (runs_.size() <= kRunsMax) return;
  runs_.pop_front();
  ++forgotten_;
}

void UnwalledRuns::End(AttemptId attempt, absl::Time now) {
  const auto found = running_.find(attempt);
  if (found == running_.end()) return;
  if (found->second >= forgotten_) runs_[found->second - forgotten_].end = now;
  running_.erase(found);
}

void UnwalledRuns::Lost(std::string_view worker, absl::Time now) {
  for (auto at = running_.begin(); at != running_.end();) {
    const AttemptId attempt = at->first;
    const bool is_its = at->second >= forgotten_ && runs_[at->second - forgotten_].worker == worker;
    ++at;
    if (is_its) End(attempt, now);
  }
}

void UnwalledRuns::Clear() {
  runs_.clear();
  running_.clear();
  forgotten_ = 0;
}

std::vector<std::string> UnwalledRuns::PackagesAt(absl::Time when, absl::Time since) const {
  std::set<std::string> packages;
  for (const Run& run : runs_) {
    if (run.begin >= since && run.begin - kTick <= when && when <= run.end)
      packages.insert(run.package);
  }
  return {packages.begin(), packages.end()};
}

UnwalledRuns::Lacking UnwalledRuns::LackingSince(absl::Time since) const {
  Lacking lacking;
  for (const Run& run : runs_) {
    if (run.begin < since || run.why.empty()) continue;
    if (lacking.workers.empty()) lacking.why = run.why;
    lacking.workers.insert(run.worker);
  }
  return lacking;
}

}  // namespace galley::director
