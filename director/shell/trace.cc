#include "director/shell/trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::director {
namespace {

constexpr const char* kDirector = "director";
constexpr int kDirectorProcess = 0, kLaunchesProcess = 1, kFirstMachine = 2;
constexpr uint32_t kUploads = UINT32_MAX;  // stands for a slot

int64_t Microseconds(absl::Time time) { return absl::ToUnixMicros(time); }

// Rows: the numbers of the processes and threads in one trace, in the order of their names.
class Rows {
 public:
  struct Row {
    int process = 0, thread = 0;
  };

  void NeedLaunch(const std::string& worker) { launches_.emplace(worker, 0); }
  void NeedSlot(const std::string& machine, const std::string& worker, uint32_t slot) {
    machines_[machine].emplace(std::pair(worker, slot), 0);
  }
  // Called after all rows are known; appends the names of the rows.
  void Number(nlohmann::json& events) {
    Name(events, kDirectorProcess, std::nullopt, kDirector);
    if (!launches_.empty()) Name(events, kLaunchesProcess, std::nullopt, "launches");
    int thread = 0;
    for (auto& [worker, number] : launches_) {
      number = ++thread;
      Name(events, kLaunchesProcess, number, worker);
    }
    int process = kFirstMachine;
    for (auto& [machine, threads] : machines_) {
      Name(events, process, std::nullopt, machine);
      processes_[machine] = process;
      thread = 0;
      for (auto& [lane, number] : threads) {
        number = ++thread;
        Name(events, process, number,
             lane.second == kUploads ? lane.first + " uploads"
                                     : fmt::format("{} slot {}", lane.first, lane.second));
      }
      ++process;
    }
  }
  Row Launch(const std::string& worker) const { return {kLaunchesProcess, launches_.at(worker)}; }
  Row Slot(const std::string& machine, const std::string& worker, uint32_t slot) const {
    return {processes_.at(machine), machines_.at(machine).at({worker, slot})};
  }

 private:
  static void Name(nlohmann::json& events, int process, std::optional<int> thread,
                   const std::string& name) {
    events.push_back({{"ph", "M"},
                      {"name", thread.has_value() ? "thread_name" : "process_name"},
                      {"pid", process},
                      {"tid", thread.value_or(0)},
                      {"args", {{"name", name}}}});
    if (thread.has_value()) return;
    events.push_back({{"ph", "M"},
                      {"name", "process_sort_index"},
                      {"pid", process},
                      {"tid", 0},
                      {"args", {{"sort_index", process}}}});
  }

  std::map<std::string, int> launches_;
  std::map<std::string, std::map<std::pair<std::string, uint32_t>, int>> machines_;
  std::map<std::string, int> processes_;
};

uint32_t LaneOf(const Trace::Span& span) {
  return span.category == "upload" ? kUploads : span.slot;
}

}  // namespace

void Trace::Add(Span span) {
  if (!is_on()) return;
  base::MutexLock lock(mutex_);
  spans_.push_back(std::move(span));
}

void Trace::WorkerIs(const std::string& worker, const std::string& state,
                     const std::string& machine, absl::Time now) {
  base::MutexLock lock(mutex_);
  const auto found = present_.find(worker);
  if (found == present_.end()) {
    if (state != "gone" && present_.size() < kPresentMax)
      present_[worker] = {.name = state, .since = now, .machine = machine};
    return;
  }
  State& is = found->second;
  if (!machine.empty()) is.machine = machine;
  if (is.name == state) return;
  if (is_on() && lives_.size() < kLivesMax)
    lives_.push_back({.worker = worker, .state = is.name, .from = is.since, .to = now});
  if (state == "gone") {
    if (is_on()) machines_[worker] = is.machine;
    present_.erase(found);
    return;
  }
  is.name = state;
  is.since = now;
}

Trace::Recording::Mark Trace::Begin() {
  base::MutexLock lock(mutex_);
  ++recordings_;
  return {.spans = spans_.size(), .lives = lives_.size(), .time = absl::Now()};
}

void Trace::End() {
  base::MutexLock lock(mutex_);
  if (--recordings_ > 0) return;
  spans_ = {};
  lives_ = {};
  machines_ = {};
}

std::string Trace::ToJsonFrom(const Recording::Mark& mark, absl::Time now) const {
  base::MutexLock lock(mutex_);
  const std::span<const Span> spans =
      std::span(spans_).subspan(std::min(mark.spans, spans_.size()));
  std::vector<Life> lives(
      lives_.begin() + static_cast<ptrdiff_t>(std::min(mark.lives, lives_.size())), lives_.end());
  for (const auto& [worker, is] : present_)
    lives.push_back({.worker = worker, .state = is.name, .from = is.since, .to = now});
  for (Life& life : lives) life.from = std::min(std::max(life.from, mark.time), life.to);

  // A worker whose machine is not known is a row of its own.
  const auto machine_of = [&](const std::string& worker) GALLEY_REQUIRES(mutex_) {
    std::string machine;
    if (const auto is = present_.find(worker); is != present_.end()) machine = is->second.machine;
    if (const auto was = machines_.find(worker); machine.empty() && was != machines_.end())
      machine = was->second;
    return machine.empty() ? worker : machine;
  };
  int64_t origin = INT64_MAX;
  Rows rows;
  for (const Span& span : spans) {
    origin = std::min(origin, span.started_us);
    if (span.worker != kDirector) rows.NeedSlot(machine_of(span.worker), span.worker, LaneOf(span));
  }
  for (const Life& life : lives) {
    origin = std::min(origin, Microseconds(life.from));
    rows.NeedLaunch(life.worker);
  }
  auto events = nlohmann::json::array();
  rows.Number(events);
  const auto add = [&](Rows::Row row, const std::string& name, const std::string& category,
                       int64_t started_us, int64_t duration_us) -> nlohmann::json& {
    return events.emplace_back(nlohmann::json{{"ph", "X"},
                                              {"name", name},
                                              {"cat", category},
                                              {"pid", row.process},
                                              {"tid", row.thread},
                                              {"ts", started_us - origin},
                                              {"dur", std::max<int64_t>(duration_us, 0)}});
  };
  for (const Span& span : spans) {
    const Rows::Row row = span.worker == kDirector
                              ? Rows::Row{kDirectorProcess, static_cast<int>(span.slot)}
                              : rows.Slot(machine_of(span.worker), span.worker, LaneOf(span));
    nlohmann::json& event = add(row, span.name, span.category, span.started_us, span.duration_us);
    if (!span.platform.empty()) event["args"] = {{"platform", span.platform}};
  }
  for (const Life& life : lives)
    add(rows.Launch(life.worker), life.state, "worker", Microseconds(life.from),
        absl::ToInt64Microseconds(life.to - life.from));
  return nlohmann::json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump(
      1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace galley::director
