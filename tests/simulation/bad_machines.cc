#include "tests/simulation/bad_machines.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "director/core/cook_core.h"
#include "director/core/jobs/worker_table.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {
namespace {

using namespace director;  // NOLINT: a simulation of it

constexpr absl::Duration kLatency = absl::Milliseconds(1);
constexpr absl::Duration kBeat = absl::Seconds(1);
constexpr absl::Duration kTick = absl::Milliseconds(50);
constexpr absl::Duration kCommit = absl::Milliseconds(20);
constexpr absl::Duration kMustBeOver = absl::Hours(3);
constexpr double kSigma = 1, kLongest = 20;

class Project final : public Catalog {
 public:
  std::optional<std::string> NameOfFile(std::string_view) const override { return std::nullopt; }
  std::optional<CatalogEntry> Find(std::string_view) const override {
    return CatalogEntry{.cooker = "bench", .source_bytes = 1 << 20};
  }
  CatalogEntry Generated(std::string_view, std::string_view, std::string_view) const override {
    return {};
  }
  ReferenceTarget Resolve(std::string_view, std::string_view) const override { return {}; }
};

// A worker whose slots run its queue in the order of urgency.
struct FarmWorker {
  MachineKind kind = MachineKind::kGood;
  uint32_t slots = 1;
  uint64_t session = 1;
  std::map<AttemptId, Desire::Start> in_hand;
  std::deque<AttemptId> queue;
  std::map<AttemptId, uint64_t> running;  // the number of each run
  ReportId next_report = 1;
  bool is_attached = false;
};

class BadMachines {
 public:
  explicit BadMachines(const BadFarm& farm) : farm_(farm), random_(farm.seed * 7919) {
    const bool are_known = farm.seed % 2 == 0;
    const auto slots = static_cast<uint32_t>(1 + random_.Below(3));
    for (const MachineKind kind : farm.machines) workers_.push_back({.kind = kind, .slots = slots});
    for (size_t i = 0; i < 5 * slots * farm.jobs_per_slot; ++i) {
      costs_.push_back(std::min(kLongest, std::exp(kSigma * Normal())));
      known_.push_back(are_known ? costs_.back() * (0.8 + 0.4 * Uniform()) : 0);
    }
    CookOptions options;
    options.workers = 0;
    if (farm.lie == Lie::kWrong)
      options.proofs = {
          .share = 1, .seed = farm.seed, .second_max = absl::Hours(1), .third_max = absl::Hours(1)};
    core_ = std::make_unique<CookCore>(options, std::make_shared<Project>());
    outcome_.jobs_failed.resize(workers_.size());
  }

  BadFarmOutcome Run() {
    for (uint32_t i = 0; i < workers_.size(); ++i) Attach(i, random_.Some(500));
    TickOn();
    CookRequested request{.request = 1, .platforms = 1};
    for (size_t i = 0; i < costs_.size(); ++i)
      request.selected.push_back({"/P" + std::to_string(i), InstigatorCategory::kCookMap});
    Step(request);
    while (!outcome_.has_ended && schedule_.elapsed() < kMustBeOver && schedule_.RunNext()) {
    }
    outcome_.took = schedule_.elapsed();
    return outcome_;
  }

 private:
  static WorkerId IdOf(uint32_t worker) { return WorkerId(kForeignWorkers + worker); }
  static uint32_t IndexOf(WorkerId worker) { return worker.value() - kForeignWorkers; }
  size_t IndexOf(PackageId package) const {
    return static_cast<size_t>(std::stoull(core_->NameOf(package).substr(2)));
  }
  static std::string MachineOf(uint32_t worker) { return "m" + std::to_string(worker); }

  double Uniform() { return (static_cast<double>(random_.Below(1u << 30)) + 0.5) / (1u << 30); }
  // Source: Box and Muller, 1958.
  double Normal() {
    return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * 3.14159265358979 * Uniform());
  }

  void Post(absl::Duration delay, Event event) {
    schedule_.After(delay, [this, event = std::move(event)] { Step(event); });
  }
  void TickOn() {
    schedule_.After(kTick, [this] {
      Step(Tick{});
      TickOn();
    });
  }
  void Step(const Event& event) {
    std::vector<Effect> effects;
    core_->Step(schedule_.now(), event, effects);
    while (core_->has_agenda()) core_->Step(schedule_.now(), Tick{}, effects);
    for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
  }

  void Attach(uint32_t index, absl::Duration delay) {
    schedule_.After(delay, [this, index] {
      FarmWorker& worker = workers_[index];
      worker.is_attached = true;
      Step(WorkerAttached{.worker = IdOf(index),
                          .slots = worker.slots,
                          .in_hand = {},
                          .session = worker.session,
                          .machine = MachineOf(index)});
      if (worker.session == 1) BeatOn(index);
    });
  }
  void BeatOn(uint32_t index) {
    schedule_.After(kBeat, [this, index] {
      if (workers_[index].is_attached) Step(WorkerAlive{IdOf(index)});
      BeatOn(index);
    });
  }

  void Do(const LookUp& look_up) {
    LookedUp answer;
    for (const LookUp::Item& item : look_up.items)
      answer.items.push_back(
          {item.package, 0, item.generation,
           LookedUp::Miss{.last_load = absl::ZeroDuration(),
                          .last_save = absl::Seconds(known_[IndexOf(item.package)])}});
    Post(kLatency, std::move(answer));
  }
  void Do(const Desire& desire) {
    const uint32_t index = IndexOf(desire.worker);
    schedule_.After(kLatency, [this, index, desire, session = workers_[index].session] {
      if (workers_[index].session == session) Take(index, desire);
    });
  }
  void Take(uint32_t index, const Desire& desire) {
    FarmWorker& worker = workers_[index];
    for (const Desire::Start& start : desire.start) {
      worker.in_hand.emplace(start.attempt, start);
      const auto is_as_urgent = [&](AttemptId other) {
        return worker.in_hand.at(other).urgency >= start.urgency;
      };
      worker.queue.insert(
          std::find_if(worker.queue.rbegin(), worker.queue.rend(), is_as_urgent).base(),
          start.attempt);
    }
    for (const AttemptId attempt : desire.retract) Drop(index, attempt, false);
    for (const AttemptId attempt : desire.cancel) Drop(index, attempt, true);
    BeginNext(index);
  }
  void Drop(uint32_t index, AttemptId attempt, bool also_running) {
    FarmWorker& worker = workers_[index];
    if (worker.running.contains(attempt) && !also_running) return;
    if (worker.in_hand.erase(attempt) == 0) return;
    std::erase(worker.queue, attempt);
    worker.running.erase(attempt);
    Report(index, attempt, {WorkerReport::Ended{}});
  }
  bool IsFull(const FarmWorker& worker) const {
    return worker.kind == MachineKind::kFull && schedule_.elapsed() >= farm_.full_from &&
           schedule_.elapsed() < farm_.full_until;
  }
  void BeginNext(uint32_t index) {
    FarmWorker& worker = workers_[index];
    while (worker.running.size() < worker.slots && !worker.queue.empty()) {
      const AttemptId attempt = worker.queue.front();
      worker.queue.pop_front();
      const uint64_t run = ++runs_;
      worker.running[attempt] = run;
      const double cost = costs_[IndexOf(worker.in_hand.at(attempt).package)];
      const bool is_slow = worker.kind == MachineKind::kSlow;
      const absl::Duration takes =
          IsFull(worker) ? random_.Some(20) : absl::Seconds(cost * (is_slow ? farm_.slowness : 1));
      schedule_.After(takes,
                      [this, index, attempt, run, takes] { End(index, attempt, run, takes); });
    }
  }
  void End(uint32_t index, AttemptId attempt, uint64_t run, absl::Duration took) {
    FarmWorker& worker = workers_[index];
    const auto running = worker.running.find(attempt);
    if (running == worker.running.end() || running->second != run) return;
    worker.running.erase(running);
    const PackageId package = worker.in_hand.at(attempt).package;
    worker.in_hand.erase(attempt);
    if (IsFull(worker)) {
      ++outcome_.jobs_failed[index];
      Report(index, attempt,
             {WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure,
                                   .error = "no space left on device"},
              WorkerReport::Ended{}});
    } else if (worker.kind == MachineKind::kLiar && farm_.lie == Lie::kNonsense) {
      Report(index, attempt,
             {WorkerReport::Failed{.fault = WorkerReport::Fault::kProtocol,
                                   .error = "its result does not parse"},
              WorkerReport::Ended{}});
    } else {
      const bool is_lie = worker.kind == MachineKind::kLiar;
      const ResultId id(static_cast<uint32_t>(made_.size()));
      made_.push_back(is_lie);
      const std::string bytes =
          core_->NameOf(package) + (is_lie ? " by " + std::to_string(index) : "");
      const auto result = std::make_shared<ResultView>(
          ResultView{.id = id, .outputs = {{.suffix = "", .digest = Digest::Of(bytes)}}});
      Report(index, attempt,
             {WorkerReport::Loaded{1, result, absl::ZeroDuration()},
              WorkerReport::Saved{0, result, took}, WorkerReport::Ended{}});
    }
    BeginNext(index);
  }
  void Report(uint32_t index, AttemptId attempt, std::vector<decltype(WorkerReport::what)> whats) {
    FarmWorker& worker = workers_[index];
    WorkerReported reported{.worker = IdOf(index)};
    for (auto& what : whats)
      reported.reports.push_back({worker.next_report++, attempt, std::move(what), {}});
    schedule_.After(kLatency, [this, index, reported, session = worker.session] {
      if (workers_[index].session == session && workers_[index].is_attached) Step(reported);
    });
  }
  void Do(const Persist& persist) {
    Persisted answer;
    for (const Persist::Item& item : persist.items) {
      const bool is_refused = farm_.lie == Lie::kNoBytes && made_[item.result.value()];
      answer.items.push_back({.package = item.package,
                              .platform = item.platform,
                              .result = item.result,
                              .instead = nullptr,
                              .refused = is_refused ? "its worker did not write blob x" : ""});
    }
    Post(kCommit, std::move(answer));
  }
  void Do(const BuildRoot& build) {
    for (const auto& [package, result] : build.packages)
      outcome_.is_right &= !made_[result.value()];
    outcome_.is_right &= build.packages.size() == costs_.size();
    RootBuilt built{build.platform, Digest::Of(""), {}, build.platform_set};
    built.round = build.round;
    built.request = build.request;
    Post(kLatency, std::move(built));
  }
  void Do(const PublishRoot& publish) {
    Post(kLatency,
         RootPublished{publish.platform, "", publish.platform_set, publish.round, publish.request});
  }
  void Do(const StageRoots&) {}
  void Do(const LookForLost&) {}
  void Do(const Spawn&) {}
  void Do(const Stop&) {}
  void Do(const Rescan&) {}
  void Do(const Reply&) {}
  void Do(const Notify& notify) {
    if (const auto* held = std::get_if<WorkerHeld>(&notify.notice);
        held != nullptr && !held->is_over && notify.cooks != 0)
      outcome_.told.push_back(
          "held " + (held->worker.valid() ? MachineOf(IndexOf(held->worker)) : held->machine));
    if (const auto* odd = std::get_if<WorkerQuarantined>(&notify.notice))
      outcome_.told.push_back("quarantined " + MachineOf(IndexOf(odd->worker)));
    if (const auto* violated = std::get_if<WorkerViolated>(&notify.notice)) EndProcess(*violated);
    outcome_.failed += std::holds_alternative<PackageFailed>(notify.notice);
    const auto* ended = std::get_if<CookEnded>(&notify.notice);
    if (ended == nullptr) return;
    outcome_.has_ended = true;
    outcome_.error = ended->infrastructure_error;
  }
  // Ends a worker's process; its service starts it again.
  void EndProcess(const WorkerViolated& violated) {
    const uint32_t index = IndexOf(violated.worker);
    outcome_.told.push_back("ended " + MachineOf(index));
    FarmWorker& worker = workers_[index];
    worker = {.kind = worker.kind, .slots = worker.slots, .session = worker.session + 1};
    Attach(index, absl::Seconds(5));
  }

  const BadFarm farm_;
  Random random_;
  Schedule schedule_;
  std::vector<FarmWorker> workers_;
  std::vector<double> costs_, known_;  // seconds; known_: 0: unknown
  std::vector<bool> made_;             // by result: whether it is a lie
  uint64_t runs_ = 0;
  std::unique_ptr<CookCore> core_;
  BadFarmOutcome outcome_;
};

}  // namespace

BadFarmOutcome CookOn(const BadFarm& farm) { return BadMachines(farm).Run(); }

}  // namespace galley::simulation
