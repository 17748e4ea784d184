// FarmModel: the real CookCore over a farm of simulated workers, on one thread, in simulated time.
// A worker begins the jobs in its hands by their urgency, as many at once as it has slots. The
// derived class says how long a job takes, and what its worker reports of it.
//
// A message takes 1 ms, a commit 20 ms; a worker speaks once a second.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "director/core/cook_core.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

class FarmModel {
 public:
  virtual ~FarmModel() = default;

 protected:
  static constexpr absl::Duration kLatency = absl::Milliseconds(1);

  using Content = decltype(director::WorkerReport::what);
  struct Job {
    absl::Duration takes;
    absl::Duration load, save;  // as reported
    uint64_t read_bytes = 0;
  };
  struct Worker {
    struct Run {
      uint64_t number = 0;
      Job job;
    };
    uint32_t slots = 1;
    uint64_t session = 1;
    bool is_attached = false;
    bool is_frozen = false;  // for good
    std::map<director::AttemptId, director::Desire::Start> in_hand;
    std::deque<director::AttemptId> queue;
    std::map<director::AttemptId, Run> running;
    director::ReportId next_report = 1;
  };

  // `first`: the id of the first worker.
  FarmModel(const director::CookOptions& options, director::WorkerId first, absl::Duration tick)
      : core_(options, std::make_shared<Project>()), first_(first), tick_(tick) {}

  // Returns the answer of the job's look-up.
  virtual director::LookedUp::Miss LookUpJob(size_t job) const = 0;
  virtual Job BeginJob(uint32_t worker, size_t job) = 0;
  virtual std::vector<Content> EndJob(uint32_t worker, director::PackageId package,
                                      const Job& job) = 0;
  virtual void StartWorker(const director::Spawn&) {}
  // Says why the result cannot be committed; empty: it can.
  virtual std::string RefusalOf(director::ResultId) const { return ""; }
  virtual void Check(const director::BuildRoot&) {}
  virtual void Hear(const director::Notify& notify) = 0;
  virtual void StepCore(const director::Event& event, std::vector<director::Effect>& effects) {
    core_.Step(schedule_.now(), event, effects);
    while (core_.has_agenda()) core_.Step(schedule_.now(), director::Tick{}, effects);
  }

  // Asks for a package for each job, and ticks from now on.
  void BeginCook(director::CookRequested request, size_t jobs, const std::string& suffix = "") {
    for (size_t i = 0; i < jobs; ++i) {
      request.selected.push_back(
          {"/P" + std::to_string(i) + suffix, director::InstigatorCategory::kCookMap});
    }
    Step(request);
    TickOn();
  }
  void Post(absl::Duration delay, director::Event event) {
    schedule_.After(delay, [this, event = std::move(event)] { Step(event); });
  }
  void BeatOn(uint32_t worker) {
    schedule_.After(kBeat, [this, worker] {
      if (workers_[worker].is_attached && !workers_[worker].is_frozen)
        Step(director::WorkerAlive{IdOf(worker)});
      BeatOn(worker);
    });
  }
  void Step(const director::Event& event) {
    std::vector<director::Effect> effects;
    StepCore(event, effects);
    for (const director::Effect& effect : effects)
      std::visit([this](const auto& e) { Do(e); }, effect);
  }
  director::WorkerId IdOf(uint32_t worker) const {
    return director::WorkerId(first_.value() + worker);
  }
  uint32_t IndexOf(director::WorkerId worker) const { return worker.value() - first_.value(); }

  Schedule& schedule() { return schedule_; }
  const Schedule& schedule() const { return schedule_; }
  const director::CookCore& core() const { return core_; }
  std::vector<Worker>& workers() { return workers_; }

 private:
  static constexpr absl::Duration kBeat = absl::Seconds(1);
  static constexpr absl::Duration kCommit = absl::Milliseconds(20);

  class Project final : public director::Catalog {
   public:
    std::optional<std::string> NameOfFile(std::string_view) const override { return std::nullopt; }
    std::optional<director::CatalogEntry> Find(std::string_view) const override {
      return director::CatalogEntry{.cooker = "bench", .source_bytes = 1 << 20};
    }
    director::CatalogEntry Generated(std::string_view, std::string_view,
                                     std::string_view) const override {
      return {};
    }
    director::ReferenceTarget Resolve(std::string_view, std::string_view) const override {
      return {};
    }
  };

  size_t JobOf(director::PackageId package) const {
    return static_cast<size_t>(std::stoull(core_.NameOf(package).substr(2)));
  }
  void TickOn() {
    schedule_.After(tick_, [this] {
      Step(director::Tick{});
      TickOn();
    });
  }

  void Do(const director::LookUp& look_up) {
    director::LookedUp answer;
    for (const director::LookUp::Item& item : look_up.items)
      answer.items.push_back({item.package, 0, item.generation, LookUpJob(JobOf(item.package))});
    Post(kLatency, std::move(answer));
  }
  void Do(const director::Desire& desire) {
    const uint32_t index = IndexOf(desire.worker);
    schedule_.After(kLatency, [this, index, desire, session = workers_.at(index).session] {
      if (workers_[index].session == session) Take(index, desire);
    });
  }

  void Take(uint32_t index, const director::Desire& desire) {
    Worker& worker = workers_[index];
    if (worker.is_frozen) return;
    for (const director::Desire::Start& start : desire.start) {
      worker.in_hand.emplace(start.attempt, start);
      const auto is_as_urgent = [&](director::AttemptId other) {
        return worker.in_hand.at(other).urgency >= start.urgency;
      };
      worker.queue.insert(
          std::find_if(worker.queue.rbegin(), worker.queue.rend(), is_as_urgent).base(),
          start.attempt);
    }
    for (const director::AttemptId attempt : desire.retract) Drop(index, attempt, false);
    for (const director::AttemptId attempt : desire.cancel) Drop(index, attempt, true);
    BeginNext(index);
  }
  void Drop(uint32_t index, director::AttemptId attempt, bool also_running) {
    Worker& worker = workers_[index];
    if (worker.running.contains(attempt) && !also_running) return;
    if (worker.in_hand.erase(attempt) == 0) return;
    std::erase(worker.queue, attempt);
    worker.running.erase(attempt);
    Report(index, attempt, {director::WorkerReport::Ended{}}, {});
  }
  void BeginNext(uint32_t index) {
    Worker& worker = workers_[index];
    while (worker.running.size() < worker.slots && !worker.queue.empty()) {
      const director::AttemptId attempt = worker.queue.front();
      worker.queue.pop_front();
      const Job job = BeginJob(index, JobOf(worker.in_hand.at(attempt).package));
      const uint64_t run = ++runs_;
      worker.running[attempt] = {.number = run, .job = job};
      schedule_.After(job.takes, [this, index, attempt, run] { End(index, attempt, run); });
    }
  }
  void End(uint32_t index, director::AttemptId attempt, uint64_t run) {
    Worker& worker = workers_[index];
    const auto running = worker.running.find(attempt);
    if (worker.is_frozen || running == worker.running.end() || running->second.number != run)
      return;
    const Job job = running->second.job;
    worker.running.erase(running);
    const director::PackageId package = worker.in_hand.at(attempt).package;
    worker.in_hand.erase(attempt);
    Report(index, attempt, EndJob(index, package, job), {.read = job.read_bytes});
    BeginNext(index);
  }
  // `bytes`: reported with the first of `contents`.
  void Report(uint32_t index, director::AttemptId attempt, std::vector<Content> contents,
              director::WorkerReport::Bytes bytes) {
    Worker& worker = workers_[index];
    director::WorkerReported reported{.worker = IdOf(index), .reports = {}};
    for (Content& content : contents) {
      reported.reports.push_back(
          {worker.next_report++, attempt, std::move(content), std::exchange(bytes, {})});
    }
    schedule_.After(kLatency, [this, index, reported, session = worker.session] {
      if (workers_[index].session == session && workers_[index].is_attached) Step(reported);
    });
  }

  void Do(const director::Persist& persist) {
    director::Persisted answer;
    for (const director::Persist::Item& item : persist.items)
      answer.items.push_back({.package = item.package,
                              .platform = item.platform,
                              .result = item.result,
                              .instead = nullptr,
                              .refused = RefusalOf(item.result)});
    Post(kCommit, std::move(answer));
  }
  void Do(const director::BuildRoot& build) {
    Check(build);
    director::RootBuilt built{build.platform, Digest::Of(""), {}, build.platform_set};
    built.round = build.round;
    built.request = build.request;
    Post(kLatency, std::move(built));
  }
  void Do(const director::PublishRoot& publish) {
    Post(kLatency, director::RootPublished{publish.platform, "", publish.platform_set,
                                           publish.round, publish.request});
  }
  void Do(const director::Spawn& spawn) { StartWorker(spawn); }
  void Do(const director::Notify& notify) { Hear(notify); }
  void Do(const director::StageRoots&) {}
  void Do(const director::LookForLost&) {}
  void Do(const director::Stop&) {}
  void Do(const director::Rescan&) {}
  void Do(const director::Reply&) {}

  Schedule schedule_;
  director::CookCore core_;
  std::vector<Worker> workers_;
  const director::WorkerId first_;
  const absl::Duration tick_;
  uint64_t runs_ = 0;
};

}  // namespace galley::simulation
