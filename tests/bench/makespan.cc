// Makespan: how long a cook takes compared with the least possible time, and what the core's
// decisions cost. The real CookCore over simulated workers, on one thread, in simulated time.
//
// Usage: makespan [--json FILE] [--workers N]
//
// Workload: 20 jobs a slot, log-normal costs (median 1 s, sigma 1) that the last cook's records
// tell within 20 %, on a farm (tests/simulation/farm_model.h).
//   ratio   makespan / max(total / slots, longest job)
//   cpu     the core's CPU time for a simulated second
// Scenarios: 2, 16 and 1,000 workers; 16 workers one of which stops in the middle (SIGSTOP); 16
// workers one of which is 20 times too slow.
//
// Shared files: 100 short jobs (median 20 ms) a slot, each of which reads 4 files of 1 MiB, which 7
// jobs of other folders read as well. A worker keeps the last 64 files warm; another file takes 5
// ms more. Measured where the last cook's files are known, and where they are not.
//   cold    bytes read cold / bytes of all files, which is the least; 8 is the most
#include <ctime>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "director/core/cook_core.h"
#include "tests/simulation/farm_model.h"

namespace galley::director {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(20);
constexpr double kKnownWithin = 0.2;
constexpr double kSigma = 1.0;

struct Scenario {
  std::string name;
  uint32_t workers = 2;
  uint32_t jobs_per_slot = 20;
  bool one_freezes = false;  // for good, when half of the least time is over
  double slowness = 1;       // the factor for worker 0
  bool shares_files = false;
  bool knows_files = true;  // the last cook's files are known
};

struct Figures {
  double ratio = 0;
  double cpu = 0;
  double micros_a_job = 0;
  double seconds = 0;  // simulated seconds
  double cold = 0;     // of shared files: bytes read / bytes of all
  Counters counters;
};

double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

constexpr size_t kFilesOfAJob = 4;
constexpr size_t kReadersOfAFile = 8;
constexpr size_t kWarmFiles = 64;
constexpr double kColdSeconds = 0.005;
constexpr double kShortJobs = 0.02;  // median, in seconds
constexpr uint64_t kFileBytes = 1 << 20;

// A worker has a single slot.
class Bench final : public simulation::FarmModel {
 public:
  explicit Bench(const Scenario& scenario)
      : FarmModel({.workers = scenario.workers}, WorkerId(0), kTick),
        scenario_(scenario),
        warm_(scenario.workers) {
    workers().resize(scenario.workers);
    std::mt19937_64 random(scenario.workers * 31 + 7);
    std::lognormal_distribution<double> cost(0, kSigma);
    std::uniform_real_distribution<double> error(1 - kKnownWithin, 1 + kKnownWithin);
    double total = 0, longest = 0;
    const size_t jobs = size_t{scenario.workers} * scenario.jobs_per_slot;
    for (size_t i = 0; i < jobs; ++i) {
      costs_.push_back(cost(random) * (scenario.shares_files ? kShortJobs : 1));
      groups_.push_back(i / kReadersOfAFile);
      known_.push_back(costs_.back() * error(random));
      total += costs_.back();
      longest = std::max(longest, costs_.back());
    }
    std::shuffle(groups_.begin(), groups_.end(), random);
    // A worker at a fraction of the speed counts as that fraction.
    const double speeds = scenario.workers - 1 + 1 / scenario.slowness;
    least_ = std::max(total / speeds, longest);
  }

  Figures Run() {
    BeginCook({.platforms = 1}, costs_.size(), scenario_.shares_files ? "/x" : "");
    if (scenario_.one_freezes)
      schedule().After(absl::Seconds(least_ / 2), [this] { workers()[0].is_frozen = true; });
    while (!has_ended_ && schedule().RunNext()) {
    }
    const double seconds = absl::ToDoubleSeconds(schedule().elapsed());
    return {.ratio = seconds / least_,
            .cpu = cpu_ / seconds,
            .micros_a_job = cpu_ * 1e6 / static_cast<double>(costs_.size()),
            .seconds = seconds,
            .cold = static_cast<double>(core().counters().bytes_read) /
                    static_cast<double>((groups_.size() + kReadersOfAFile - 1) / kReadersOfAFile *
                                        kFilesOfAJob * kFileBytes),
            .counters = core().counters()};
  }

 private:
  void StepCore(const Event& event, std::vector<Effect>& effects) override {
    const double before = CpuSeconds();
    FarmModel::StepCore(event, effects);
    cpu_ += CpuSeconds() - before;
  }
  void StartWorker(const Spawn& spawn) override {
    const uint32_t worker = IndexOf(spawn.worker);
    workers().at(worker).is_attached = true;
    Post(spawn.delay + kLatency, WorkerAttached{.worker = spawn.worker, .slots = 1});
    BeatOn(worker);
  }
  LookedUp::Miss LookUpJob(size_t job) const override {
    LookedUp::Miss miss{.last_load = absl::ZeroDuration(), .last_save = absl::Seconds(known_[job])};
    if (scenario_.shares_files) miss.last_load = absl::Seconds(kFilesOfAJob * kColdSeconds);
    if (scenario_.shares_files && scenario_.knows_files) miss.last_read = FilesOf(job);
    return miss;
  }
  Job BeginJob(uint32_t worker, size_t job) override {
    const size_t cold = scenario_.shares_files ? ReadFiles(job, warm_[worker]) : 0;
    const double slowness = worker == 0 ? scenario_.slowness : 1;
    const double load = static_cast<double>(cold) * kColdSeconds * slowness;
    const double save = costs_[job] * slowness;
    return {.takes = absl::Seconds(load + save),
            .load = absl::Seconds(load),
            .save = absl::Seconds(save),
            .read_bytes = cold * kFileBytes};
  }
  // Files are in folders of their own, so that only files tell what jobs have in common.
  std::vector<uint64_t> FilesOf(size_t job) const {
    std::vector<uint64_t> files;
    for (size_t i = 0; i < kFilesOfAJob; ++i)
      files.push_back(1'000'000 + groups_[job] * kFilesOfAJob + i);
    return files;
  }
  // Returns the number of cold files. `warm`: the latest used last.
  size_t ReadFiles(size_t job, std::vector<uint64_t>& warm) const {
    size_t cold = 0;
    for (const uint64_t file : FilesOf(job)) {
      cold += std::erase(warm, file) == 0;
      warm.push_back(file);
      if (warm.size() > kWarmFiles) warm.erase(warm.begin());
    }
    return cold;
  }
  std::vector<Content> EndJob(uint32_t, PackageId, const Job& job) override {
    const auto result = std::make_shared<ResultView>(ResultView{.id = ResultId(results_++)});
    return {WorkerReport::Loaded{1, result, job.load}, WorkerReport::Saved{0, result, job.save},
            WorkerReport::Ended{}};
  }
  void Hear(const Notify& notify) override {
    has_ended_ |= std::holds_alternative<CookEnded>(notify.notice);
  }

  const Scenario scenario_;
  std::vector<double> costs_, known_;
  std::vector<size_t> groups_;               // jobs of a group read the same files
  std::vector<std::vector<uint64_t>> warm_;  // by worker
  double least_ = 0;
  uint32_t results_ = 0;
  double cpu_ = 0;
  bool has_ended_ = false;
};

int Main(int argc, char** argv) {
  std::vector<Scenario> scenarios = {
      {.name = "2 workers", .workers = 2},
      {.name = "16 workers", .workers = 16},
      {.name = "1000 workers", .workers = 1000},
      {.name = "16 workers, one stops", .workers = 16, .one_freezes = true},
      {.name = "16 workers, one 20 times slower", .workers = 16, .slowness = 20},
      {.name = "16 workers, shared files",
       .workers = 16,
       .jobs_per_slot = 100,
       .shares_files = true},
      {.name = "16 workers, shared files not known",
       .workers = 16,
       .jobs_per_slot = 100,
       .shares_files = true,
       .knows_files = false},
  };
  const char* json = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else if (std::strcmp(argv[i], "--workers") == 0 && i + 1 < argc) {
      const auto workers = static_cast<uint32_t>(std::atoi(argv[++i]));
      if (workers < 1) return 2;
      scenarios = {{.name = std::to_string(workers) + " workers", .workers = workers}};
    } else {
      std::fprintf(stderr, "usage: makespan [--json FILE] [--workers N]\n");
      return 2;
    }
  }
  std::string lines;
  for (const Scenario& scenario : scenarios) {
    const Figures figures = Bench(scenario).Run();
    std::printf(
        "%-34s ratio %.3f  core %.1f %% of a CPU, %.0f us a job  moved %llu backups %llu "
        "(won %llu)",
        scenario.name.c_str(), figures.ratio, 100 * figures.cpu, figures.micros_a_job,
        static_cast<unsigned long long>(figures.counters.jobs_retracted),
        static_cast<unsigned long long>(figures.counters.backups_started),
        static_cast<unsigned long long>(figures.counters.backups_won));
    if (scenario.shares_files) std::printf("  cold %.2f", figures.cold);
    std::printf("\n");
    std::fflush(stdout);
    char line[256];
    std::snprintf(line, sizeof(line),
                  "{\"bench\": \"makespan\", \"case\": \"%s\", \"ratio\": %.4f, "
                  "\"core_cpu\": %.4f, \"core_us_a_job\": %.1f, \"cold\": %.3f}\n",
                  scenario.name.c_str(), figures.ratio, figures.cpu, figures.micros_a_job,
                  figures.cold);
    lines += line;
  }
  if (json == nullptr) return 0;
  std::FILE* file = std::fopen(json, "a");
  if (file == nullptr) return 1;
  const bool is_written = std::fputs(lines.c_str(), file) >= 0;
  return std::fclose(file) == 0 && is_written ? 0 : 1;
}

}  // namespace
}  // namespace galley::director

int main(int argc, char** argv) { return galley::director::Main(argc, argv); }
