#include "tests/simulation/bad_machines.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "director/core/jobs/worker_table.h"
#include "tests/simulation/farm_model.h"

namespace galley::simulation {
namespace {

using namespace director;  // NOLINT: a simulation of it

constexpr absl::Duration kTick = absl::Milliseconds(50);
constexpr absl::Duration kMustBeOver = absl::Hours(3);
constexpr double kSigma = 1, kLongest = 20;

CookOptions OptionsOf(const BadFarm& farm) {
  CookOptions options;
  options.workers = 0;
  if (farm.lie == Lie::kWrong)
    options.proofs = {
        .share = 1, .seed = farm.seed, .second_max = absl::Hours(1), .third_max = absl::Hours(1)};
  return options;
}

class BadMachines final : public FarmModel {
 public:
  explicit BadMachines(const BadFarm& farm)
      : FarmModel(OptionsOf(farm), WorkerId(kForeignWorkers), kTick),
        farm_(farm),
        random_(farm.seed * 7919) {
    const bool are_known = farm.seed % 2 == 0;
    const auto slots = static_cast<uint32_t>(1 + random_.Below(3));
    for (size_t i = 0; i < farm.machines.size(); ++i) workers_.push_back({.slots = slots});
    for (size_t i = 0; i < 5 * slots * farm.jobs_per_slot; ++i) {
      costs_.push_back(std::min(kLongest, std::exp(kSigma * Normal())));
      known_.push_back(are_known ? costs_.back() * (0.8 + 0.4 * Uniform()) : 0);
    }
    outcome_.jobs_failed.resize(workers_.size());
  }

  BadFarmOutcome Run() {
    for (uint32_t i = 0; i < workers_.size(); ++i) Attach(i, random_.Some(500));
    BeginCook({.request = 1, .platforms = 1}, costs_.size());
    while (!outcome_.has_ended && schedule_.elapsed() < kMustBeOver && schedule_.RunNext()) {
    }
    outcome_.took = schedule_.elapsed();
    return outcome_;
  }

 private:
  static std::string MachineOf(uint32_t worker) { return "m" + std::to_string(worker); }

  double Uniform() { return (static_cast<double>(random_.Below(1u << 30)) + 0.5) / (1u << 30); }
  // Source: Box and Muller, 1958.
  double Normal() {
    return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * 3.14159265358979 * Uniform());
  }

  void Attach(uint32_t index, absl::Duration delay) {
    schedule_.After(delay, [this, index] {
      Worker& worker = workers_[index];
      worker.is_attached = true;
      Step(WorkerAttached{.worker = IdOf(index),
                          .slots = worker.slots,
                          .in_hand = {},
                          .session = worker.session,
                          .machine = MachineOf(index)});
      if (worker.session == 1) BeatOn(index);
    });
  }
  LookedUp::Miss LookUpJob(size_t job) const override {
    return {.last_load = absl::ZeroDuration(), .last_save = absl::Seconds(known_[job])};
  }
  bool IsFull(uint32_t worker) const {
    return farm_.machines[worker] == MachineKind::kFull && schedule_.elapsed() >= farm_.full_from &&
           schedule_.elapsed() < farm_.full_until;
  }
  Job BeginJob(uint32_t worker, size_t job) override {
    const bool is_slow = farm_.machines[worker] == MachineKind::kSlow;
    const absl::Duration takes = IsFull(worker)
                                     ? random_.Some(20)
                                     : absl::Seconds(costs_[job] * (is_slow ? farm_.slowness : 1));
    return {.takes = takes, .load = absl::ZeroDuration(), .save = takes};
  }
  std::vector<Content> EndJob(uint32_t worker, PackageId package, const Job& job) override {
    const bool is_liar = farm_.machines[worker] == MachineKind::kLiar;
    if (IsFull(worker)) {
      ++outcome_.jobs_failed[worker];
      return {WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure,
                                   .error = "no space left on device"},
              WorkerReport::Ended{}};
    }
    if (is_liar && farm_.lie == Lie::kNonsense)
      return {WorkerReport::Failed{.fault = WorkerReport::Fault::kProtocol,
                                   .error = "its result does not parse"},
              WorkerReport::Ended{}};
    const ResultId id(static_cast<uint32_t>(made_.size()));
    made_.push_back(is_liar);
    const std::string bytes =
        core_.NameOf(package) + (is_liar ? " by " + std::to_string(worker) : "");
    const auto result = std::make_shared<ResultView>(
        ResultView{.id = id, .outputs = {{.suffix = "", .digest = Digest::Of(bytes)}}});
    return {WorkerReport::Loaded{1, result, job.load}, WorkerReport::Saved{0, result, job.save},
            WorkerReport::Ended{}};
  }
  std::string RefusalOf(ResultId result) const override {
    const bool is_refused = farm_.lie == Lie::kNoBytes && made_[result.value()];
    return is_refused ? "its worker did not write blob x" : "";
  }
  void Check(const BuildRoot& build) override {
    for (const auto& [package, result] : build.packages)
      outcome_.is_right &= !made_[result.value()];
    outcome_.is_right &= build.packages.size() == costs_.size();
  }
  void Hear(const Notify& notify) override {
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
    Worker& worker = workers_[index];
    worker = {.slots = worker.slots, .session = worker.session + 1};
    Attach(index, absl::Seconds(5));
  }

  const BadFarm farm_;
  Random random_;
  std::vector<double> costs_, known_;  // seconds; known_: 0: unknown
  std::vector<bool> made_;             // by result: whether it is a lie
  BadFarmOutcome outcome_;
};

}  // namespace

BadFarmOutcome CookOn(const BadFarm& farm) { return BadMachines(farm).Run(); }

}  // namespace galley::simulation
