// Monitor: the work of a cook that is done, and the work that is left. Lifecycle updates the
// Monitor with each change of a package; CheckInvariants recomputes its sums.
//
// Rates are over a sliding window of kWindow. The work left is the expected cost of the packages
// that are known to need a cook, corrected by the ratio of measured to expected costs in this cook.
// For each package of which this is not known yet, the mean cost of the packages that are over is
// added. The time left is the work left, less the work that the running jobs have done, divided by
// the workers' slots. It is never less than the time that the running job which ends last has left:
// no other worker can help that job.
//
// Cost: O(1) for each change and each question.
// Threads: none; owned by a Tally.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/time/time.h"
#include "director/core/events.h"
#include "director/core/packages/package_state.h"

namespace galley::director {

// The urgencies of cooks, from kLow on.
inline constexpr size_t kUrgencyCount = 5;

// Workers that a launcher was asked for and that are not attached; counted by the shell, for
// people.
struct WorkersOnTheWay {
  std::string launcher;  // "slurm"; empty: there is none
  uint32_t asked_for = 0, queued = 0, starting = 0;
};

struct Progress {
  // Packages in the cook, by State and Urgency.
  std::array<std::array<uint32_t, kUrgencyCount>, kStateCount> packages{};
  double results_per_second = 0;  // done or failed, in the window
  double cooked_per_second = 0;
  uint32_t to_cook = 0;  // packages that are known to need a cook, and are not cooked yet
  uint32_t unknown = 0;  // packages of which it is not known yet whether they need a cook
  uint32_t pending = 0;  // jobs whose external programs merely wait; from WorkerTable
  std::optional<absl::Duration> left;  // nullopt: unknown
  // The package whose job has run for the longest time; empty: none. From Stragglers.
  std::string longest;
  absl::Duration longest_for;
  // The longest job runs alone (exclusive_run.h): all others wait.
  bool is_alone = false;
  WorkersOnTheWay on_the_way;
};

// A running job: its expected time, and how long it has run.
struct RunningJob {
  absl::Duration expected, ran;
};

class Monitor {
 public:
  static constexpr absl::Duration kWindow = absl::Seconds(10);

  // REQUIRES: `now` does not go back.
  void Advance(absl::Time now);

  void Enter(State state, Urgency urgency) { ++Count(state, urgency); }
  void Leave(State state, Urgency urgency) { --Count(state, urgency); }
  // A package is over, or is not over any more.
  void CountOver(bool is_over) { over_ += is_over ? 1u : ~0u; }
  // A platform has a result (`is_cooked`: a cooker made the result) or failed. A result that is
  // taken back does not change the window.
  void CountResult(bool is_cooked);
  // A package is known to need a cook of this expected cost, or does not need it any more.
  void AddExpected(absl::Duration cost);
  void RemoveExpected(absl::Duration cost);
  // A whole attempt took `measured`.
  void AddMeasurement(absl::Duration expected, absl::Duration measured);

  // `running`: the running jobs of the cook's packages.
  Progress View(uint32_t slots, std::span<const RunningJob> running = {}) const;
  uint32_t In(State state) const;
  uint32_t over() const { return over_; }
  uint32_t to_cook() const { return to_cook_; }
  absl::Duration expected() const { return expected_; }
  // The expected time of all work that is left, in one slot; zero: unknown.
  absl::Duration Work() const;

 private:
  static constexpr size_t kBuckets = 20;
  struct Bucket {
    uint32_t results = 0;
    uint32_t cooked = 0;
  };

  // A package of a settled cook may be wanted by nobody else than asks ahead: it counts as low.
  uint32_t& Count(State state, Urgency urgency) {
    const auto of_cook = static_cast<size_t>(std::max(urgency, Urgency::kLow));
    return packages_[static_cast<size_t>(state)][of_cook];
  }
  uint32_t InCook() const;
  double Correction() const;
  absl::Duration Left(uint32_t slots, std::span<const RunningJob> running) const;

  std::array<std::array<uint32_t, kUrgencyCount>, kStateCount> packages_{};
  uint32_t over_ = 0;
  uint32_t to_cook_ = 0;
  absl::Duration expected_;  // of the packages that are known to need a cook
  absl::Duration attempts_expected_, attempts_measured_;

  std::optional<absl::Time> begun_;
  absl::Time now_;
  int64_t bucket_ = 0;  // number of the present one since begun_
  std::array<Bucket, kBuckets> buckets_{};
  Bucket sum_;  // of all buckets
};

}  // namespace galley::director
