#include "director/shell/progress_notes.h"

#include <utility>

namespace galley::director {

void ProgressNotes::Give(AttemptRecord given) {
  const AttemptId attempt = given.attempt;
  given_[attempt] = std::move(given);
}

void ProgressNotes::NoteOver(const WorkerReported& reported) {
  for (const WorkerReport& report : reported.reports) {
    if (std::holds_alternative<WorkerReport::Ended>(report.what) &&
        given_.erase(report.attempt) == 0)
      over_.push_back(report.attempt);
  }
}

void ProgressNotes::NoteBlame(const std::string& package, const PackageBlamed& blamed) {
  blamed_.push_back({.package = package,
                     .own_faults = blamed.own_faults,
                     .what = blamed.what,
                     .error = blamed.error,
                     .log = blamed.log});
}

JournalProgress ProgressNotes::Take(bool has_results, absl::Time now) {
  JournalProgress progress{.blamed = std::exchange(blamed_, {})};
  for (auto& [attempt, given] : std::exchange(given_, {}))
    progress.given.push_back(std::move(given));
  if (!has_results) progress.over = std::exchange(over_, {});
  if (!progress.empty()) taken_ = now;
  return progress;
}

}  // namespace galley::director
