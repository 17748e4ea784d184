// Makespan: how long a cook takes compared with the least possible time, and what the core's
// decisions cost. The real CookCore over simulated workers, on one thread, in simulated time.
//
// Usage: makespan [--json FILE] [--workers N]
//
// Workload: 20 jobs a slot, log-normal costs (median 1 s, sigma 1) that the last cook's records
// tell within 20 %. A message takes 1 ms, a worker speaks once a second, a commit takes 20 ms.
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
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "director/core/cook_core.h"

namespace galley::director {
namespace {

constexpr absl::Duration kLatency = absl::Milliseconds(1);
constexpr absl::Duration kBeat = absl::Seconds(1);
constexpr absl::Duration kTick = absl::Milliseconds(20);
constexpr absl::Duration kCommit = absl::Milliseconds(20);
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

// A worker with a single slot: runs its queue in the order of urgency.
struct FakeWorker {
  std::map<AttemptId, Desire::Start> in_hand;
  std::vector<AttemptId> queue;
  AttemptId running = 0;
  uint64_t run = 0;  // changes with the running job
  ReportId next_report = 1;
  bool is_frozen = false;
  double slowness = 1;
  std::vector<uint64_t> warm;  // the latest used last
};

class Bench {
 public:
  explicit Bench(const Scenario& scenario) : scenario_(scenario), workers_(scenario.workers) {
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
    workers_[0].slowness = scenario.slowness;
    CookOptions options;
    options.workers = scenario.workers;
    core_ = std::make_unique<CookCore>(options, std::make_shared<Project>());
  }

  Figures Run() {
    CookRequested request{.platforms = 1};
    for (size_t i = 0; i < costs_.size(); ++i)
      request.selected.push_back({"/P" + std::to_string(i) + (scenario_.shares_files ? "/x" : ""),
                                  InstigatorCategory::kCookMap});
    Step(request);
    At(kTick, [this] { TickOn(); });
    if (scenario_.one_freezes)
      At(absl::Seconds(least_ / 2), [this] { workers_[0].is_frozen = true; });
    while (!has_ended_ && !queue_.empty()) {
      const auto next = queue_.begin();
      now_ = next->first.first;
      const std::function<void()> act = std::move(next->second);
      queue_.erase(next);
      act();
    }
    const double seconds = absl::ToDoubleSeconds(now_ - absl::UnixEpoch());
    return {.ratio = seconds / least_,
            .cpu = cpu_ / seconds,
            .micros_a_job = cpu_ * 1e6 / static_cast<double>(costs_.size()),
            .seconds = seconds,
            .cold = static_cast<double>(core_->counters().bytes_read) /
                    static_cast<double>((groups_.size() + kReadersOfAFile - 1) / kReadersOfAFile *
                                        kFilesOfAJob * kFileBytes),
            .counters = core_->counters()};
  }

 private:
  void At(absl::Duration delay, std::function<void()> act) {
    queue_.emplace(std::pair(now_ + delay, sequence_++), std::move(act));
  }
  void Post(absl::Duration delay, Event event) {
    At(delay, [this, event = std::move(event)] { Step(event); });
  }
  void TickOn() {
    Step(Tick{});
    At(kTick, [this] { TickOn(); });
  }

  void Step(const Event& event) {
    std::vector<Effect> effects;
    const double before = CpuSeconds();
    core_->Step(now_, event, effects);
    while (core_->has_agenda()) core_->Step(now_, Tick{}, effects);
    cpu_ += CpuSeconds() - before;
    for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
  }

  void Do(const LookUp& look_up) {
    LookedUp answer;
    for (const LookUp::Item& item : look_up.items) {
      const size_t index = IndexOf(item.package);
      LookedUp::Miss miss{.last_load = absl::ZeroDuration(),
                          .last_save = absl::Seconds(known_[index])};
      if (scenario_.shares_files) miss.last_load = absl::Seconds(kFilesOfAJob * kColdSeconds);
      if (scenario_.shares_files && scenario_.knows_files) miss.last_read = FilesOf(index);
      answer.items.push_back({item.package, 0, item.generation, std::move(miss)});
    }
    Post(kLatency, std::move(answer));
  }
  void Do(const Spawn& spawn) {
    Post(spawn.delay + kLatency, WorkerAttached{.worker = spawn.worker, .slots = 1});
    BeatOn(spawn.worker);
  }
  void BeatOn(WorkerId worker) {
    At(kBeat, [this, worker] {
      if (!workers_.at(worker.value()).is_frozen) Step(WorkerAlive{worker});
      BeatOn(worker);
    });
  }
  void Do(const Desire& desire) {
    At(kLatency, [this, desire] { Take(desire); });
  }
  void Take(const Desire& desire) {
    FakeWorker& worker = workers_.at(desire.worker.value());
    if (worker.is_frozen) return;
    for (const Desire::Start& start : desire.start) {
      worker.in_hand.emplace(start.attempt, start);
      const auto at = std::find_if(worker.queue.begin(), worker.queue.end(), [&](AttemptId other) {
        return worker.in_hand.at(other).urgency < start.urgency;
      });
      worker.queue.insert(at, start.attempt);
    }
    for (const AttemptId attempt : desire.retract) Drop(desire.worker, attempt, false);
    for (const AttemptId attempt : desire.cancel) Drop(desire.worker, attempt, true);
    BeginNext(desire.worker);
  }
  void Drop(WorkerId id, AttemptId attempt, bool also_running) {
    FakeWorker& worker = workers_[id.value()];
    if (worker.running == attempt && !also_running) return;
    if (worker.in_hand.erase(attempt) == 0) return;
    std::erase(worker.queue, attempt);
    if (worker.running == attempt) worker.running = 0;
    Report(id, attempt, {WorkerReport::Ended{}});
  }
  void BeginNext(WorkerId id) {
    FakeWorker& worker = workers_[id.value()];
    if (worker.running != 0 || worker.queue.empty()) return;
    worker.running = worker.queue.front();
    worker.queue.erase(worker.queue.begin());
    const size_t index = IndexOf(worker.in_hand.at(worker.running).package);
    const size_t cold = scenario_.shares_files ? ReadFiles(index, worker.warm) : 0;
    const double load = static_cast<double>(cold) * kColdSeconds * worker.slowness;
    const double save = costs_[index] * worker.slowness;
    At(absl::Seconds(load + save),
       [this, id, run = ++worker.run, load, save, cold] { End(id, run, load, save, cold); });
  }
  // Files are in folders of their own, so that only files tell what jobs have in common.
  std::vector<uint64_t> FilesOf(size_t index) const {
    std::vector<uint64_t> files;
    for (size_t i = 0; i < kFilesOfAJob; ++i)
      files.push_back(1'000'000 + groups_[index] * kFilesOfAJob + i);
    return files;
  }
  // Returns the number of cold files.
  size_t ReadFiles(size_t index, std::vector<uint64_t>& warm) const {
    size_t cold = 0;
    for (const uint64_t file : FilesOf(index)) {
      cold += std::erase(warm, file) == 0;
      warm.push_back(file);
      if (warm.size() > kWarmFiles) warm.erase(warm.begin());
    }
    return cold;
  }
  void End(WorkerId id, uint64_t run, double load, double save, size_t cold) {
    FakeWorker& worker = workers_[id.value()];
    if (worker.run != run || worker.running == 0 || worker.is_frozen) return;
    const AttemptId attempt = std::exchange(worker.running, 0);
    worker.in_hand.erase(attempt);
    const auto result = std::make_shared<ResultView>(ResultView{.id = ResultId(results_++)});
    Report(id, attempt,
           {WorkerReport::Loaded{1, result, absl::Seconds(load)},
            WorkerReport::Saved{0, result, absl::Seconds(save)}, WorkerReport::Ended{}},
           {.read = cold * kFileBytes});
    BeginNext(id);
  }
  // `bytes`: reported with the first of `whats`.
  void Report(WorkerId id, AttemptId attempt, std::vector<decltype(WorkerReport::what)> whats,
              WorkerReport::Bytes bytes = {}) {
    WorkerReported reported{.worker = id};
    for (auto& what : whats) {
      reported.reports.push_back(
          {workers_[id.value()].next_report++, attempt, std::move(what), std::exchange(bytes, {})});
    }
    Post(kLatency, std::move(reported));
  }
  void Do(const Persist& persist) {
    Persisted answer;
    for (const Persist::Item& item : persist.items)
      answer.items.push_back({item.package, item.platform, item.result});
    Post(kCommit, std::move(answer));
  }
  void Do(const BuildRoot& build) { Post(kLatency, RootBuilt{build.platform, Digest::Of(""), {}}); }
  void Do(const PublishRoot& publish) { Post(kLatency, RootPublished{publish.platform, ""}); }
  void Do(const StageRoots&) {}   // nothing is staged here,
  void Do(const LookForLost&) {}  // and nothing is lost
  void Do(const Notify& notify) { has_ended_ |= std::holds_alternative<CookEnded>(notify.notice); }
  void Do(const Stop&) {}
  void Do(const Rescan&) {}
  void Do(const Reply&) {}

  size_t IndexOf(PackageId package) const {
    return static_cast<size_t>(std::atoll(core_->NameOf(package).c_str() + 2));
  }

  Scenario scenario_;
  std::vector<FakeWorker> workers_;
  std::vector<double> costs_, known_;
  std::vector<size_t> groups_;  // jobs of a group read the same files
  double least_ = 0;
  std::unique_ptr<CookCore> core_;
  absl::Time now_ = absl::UnixEpoch();
  std::map<std::pair<absl::Time, uint64_t>, std::function<void()>> queue_;
  uint64_t sequence_ = 0;
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
