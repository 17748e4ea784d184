#include "director/core/core_figures.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley::director {
namespace {

template <typename T, size_t kSize>
void AddAll(const std::array<T, kSize>& from, std::array<T, kSize>& to) {
  for (size_t i = 0; i < kSize; ++i) to[i] += from[i];
}

}  // namespace

std::string_view RetryCauseName(RetryCause cause) {
  switch (cause) {
    case RetryCause::kCrashed:
      return "crashed";
    case RetryCause::kMemory:
      return "memory";
    case RetryCause::kTimeout:
      return "timeout";
    case RetryCause::kMachine:
      return "machine";
    case RetryCause::kWorkerLost:
      return "worker_lost";
  }
  return "";
}

RetryCause RetryCauseOf(WorkerReport::Fault fault) {
  switch (fault) {
    case WorkerReport::Fault::kCrashed:
      return RetryCause::kCrashed;
    case WorkerReport::Fault::kMemory:
      return RetryCause::kMemory;
    case WorkerReport::Fault::kTimeout:
      return RetryCause::kTimeout;
    case WorkerReport::Fault::kRefused:
    case WorkerReport::Fault::kOtherTool:
    case WorkerReport::Fault::kNeedsFiles:
    case WorkerReport::Fault::kNoRoom:
    case WorkerReport::Fault::kProtocol:
    case WorkerReport::Fault::kInfrastructure:
      return RetryCause::kMachine;
  }
  return RetryCause::kMachine;
}

std::string_view ResultOutcomeName(ResultOutcome outcome) {
  switch (outcome) {
    case ResultOutcome::kCooked:
      return "cooked";
    case ResultOutcome::kCached:
      return "cached";
    case ResultOutcome::kUpToDate:
      return "up_to_date";
    case ResultOutcome::kFailed:
      return "failed";
  }
  return "";
}

ResultOutcome ResultOutcomeOf(ResultSource source) {
  switch (source) {
    case ResultSource::kCooked:
      return ResultOutcome::kCooked;
    case ResultSource::kCached:
      return ResultOutcome::kCached;
    case ResultSource::kUpToDate:
      return ResultOutcome::kUpToDate;
  }
  return ResultOutcome::kCooked;
}

void TimeCounts::Add(absl::Duration time) {
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), time);
  ++counts[static_cast<size_t>(bound - kBounds.begin())];
  sum += time;
}

void TimeCounts::Add(const TimeCounts& other) {
  AddAll(other.counts, counts);
  sum += other.sum;
}

void CoreFigures::AddCounts(const CoreFigures& other) {
  for (const CookerFigures& one : other.cookers) {
    auto same = std::ranges::find_if(
        cookers, [&](const CookerFigures& mine) { return mine.name == one.name; });
    if (same == cookers.end()) same = cookers.insert(cookers.end(), {.name = one.name});
    AddAll(one.results, same->results);
    same->jobs.Add(one.jobs);
  }
  AddAll(other.retried, retried);
  for (size_t i = 0; i < kPoolCount; ++i) {
    pools[i].started += other.pools[i].started;
    pools[i].lost += other.pools[i].lost;
    pools[i].launches_failed += other.pools[i].launches_failed;
  }
  executors_lost += other.executors_lost;
  breakers_opened += other.breakers_opened;
  bytes_read += other.bytes_read;
  bytes_warm += other.bytes_warm;
  bytes_saved += other.bytes_saved;
  ahead_begun += other.ahead_begun;
  ahead_killed += other.ahead_killed;
  ahead_slot_time += other.ahead_slot_time;
}

}  // namespace galley::director
