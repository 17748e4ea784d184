// CoreFigures: counts over all cooks since the core was made, and the packages that wait now. For
// metrics (director/metrics). The numbers of one cook are its Counters.
//
// A result counts once for each cook that is told of it, so that the counts equal the sums over the
// summaries of all cooks. A result that a cook takes back and gets again counts again.
// Threads: none; a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/core/packages/package_state.h"
#include "director/core/pools.h"

namespace galley::director {

// Why a job was handed over again.
enum class RetryCause : uint8_t {
  kCrashed,     // the job's executor died
  kMemory,      // the job outgrew its memory limit
  kTimeout,     // the job outgrew its time limit
  kMachine,     // the machine failed the job, or the job's files changed meanwhile
  kWorkerLost,  // the job's worker was lost, or never got the job
};
inline constexpr size_t kRetryCauseCount = 5;
std::string_view RetryCauseName(RetryCause cause);  // "worker_lost"
// kRefused gives kMachine, but is never tried again.
RetryCause RetryCauseOf(WorkerReport::Fault fault);

enum class ResultOutcome : uint8_t { kCooked, kCached, kUpToDate, kFailed };
inline constexpr size_t kResultOutcomeCount = 4;
std::string_view ResultOutcomeName(ResultOutcome outcome);  // "up_to_date", as in the summary
ResultOutcome ResultOutcomeOf(ResultSource source);

// TimeCounts: a histogram of times. The last class is everything above the last bound.
struct TimeCounts {
  // Inclusive upper bounds of the classes.
  static constexpr std::array<absl::Duration, 19> kBounds = {
      absl::Milliseconds(1),   absl::Milliseconds(2),   absl::Milliseconds(5),
      absl::Milliseconds(10),  absl::Milliseconds(20),  absl::Milliseconds(50),
      absl::Milliseconds(100), absl::Milliseconds(200), absl::Milliseconds(500),
      absl::Seconds(1),        absl::Seconds(2),        absl::Seconds(5),
      absl::Seconds(10),       absl::Seconds(20),       absl::Seconds(50),
      absl::Seconds(100),      absl::Seconds(200),      absl::Seconds(500),
      absl::Seconds(1000)};

  void Add(absl::Duration time);
  void Add(const TimeCounts& other);

  std::array<uint64_t, kBounds.size() + 1> counts{};  // not cumulative
  absl::Duration sum;
};

struct CookerFigures {
  std::string name;                                     // empty: packages without a cooker
  std::array<uint64_t, kResultOutcomeCount> results{};  // by ResultOutcome
  TimeCounts jobs;                                      // whole attempts: load and saves
};

struct PoolFigures {
  uint64_t started = 0;  // workers that attached for the first time
  uint64_t lost = 0;
  uint64_t launches_failed = 0;  // workers that were asked for and did not come
};

struct CoreFigures {
  static constexpr size_t kClassCount = 4;  // CookClass

  // Adds the counts. The numbers of now, from `packages` on, stay.
  void AddCounts(const CoreFigures& other);

  std::vector<CookerFigures> cookers;  // in the order of first use
  std::array<uint64_t, kRetryCauseCount> retried{};
  std::array<PoolFigures, kPoolCount> pools{};
  uint64_t executors_lost = 0;
  uint64_t breakers_opened = 0;                              // of workers, and of machines
  uint64_t bytes_read = 0, bytes_warm = 0, bytes_saved = 0;  // as in Counters
  // Spare jobs (spare_jobs.h): handed over, ended because something else wanted their slot, and how
  // long slots were theirs. The time of a job counts when the job ends.
  uint64_t ahead_begun = 0, ahead_killed = 0;
  absl::Duration ahead_slot_time;

  // The numbers below are of now. `packages`: the packages of the running cooks, by CookClass of
  // the cook and State. A package that two cooks want counts twice.
  std::array<std::array<uint64_t, kStateCount>, kClassCount> packages{};
  uint64_t ready = 0;    // packages that wait for a worker with room
  uint64_t parked = 0;   // packages that wait for a worker that has their cooker
  uint64_t stalled = 0;  // packages that wait for a grant of a resource
  uint64_t held = 0;     // attached workers that are held, or on trial
  // How long the first of `ready` has been waiting; zero: no package waits.
  absl::Duration oldest_ready;
};

}  // namespace galley::director
