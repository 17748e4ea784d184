#include "director/host/director_meter.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "common/base/child_process.h"
#include "common/base/descriptor_limit.h"
#include "common/base/folder_names.h"
#include "common/wire/tls_pair.h"

namespace galley::director {
namespace {

// The shortest time between two looks at the store and the certificate.
constexpr absl::Duration kLookInterval = absl::Seconds(5);

constexpr std::array kClasses = {CookClass::kAhead, CookClass::kNightly, CookClass::kCommit,
                                 CookClass::kNow};

double Seconds(absl::Time time) { return absl::ToDoubleSeconds(time - absl::UnixEpoch()); }

std::string_view StateLabel(State state) {
  switch (state) {
    case State::kIdle:
      return "idle";
    case State::kRequest:
      return "request";
    case State::kLoad:
      return "load";
    case State::kSave:
      return "save";
    case State::kSaveStalled:
      return "save_stalled";
  }
  return "";
}

// Returns the state of a worker as the label spells it.
std::string StateOf(const WorkerStatus& worker) {
  if (worker.is_draining) return "draining";
  if (worker.state == "held") return "held";
  if (worker.state == "attached") return worker.jobs > 0 ? "busy" : "idle";
  return worker.state == "starting" ? "starting" : "queued";
}

metrics::Cooker CookerOf(const CookerFigures& from) {
  metrics::Cooker cooker{.name = from.name,
                         .job_counts = {from.jobs.counts.begin(), from.jobs.counts.end()},
                         .job_seconds = absl::ToDoubleSeconds(from.jobs.sum)};
  for (size_t i = 0; i < kResultOutcomeCount; ++i)
    cooker.results[std::string(ResultOutcomeName(static_cast<ResultOutcome>(i)))] = from.results[i];
  return cooker;
}

uint64_t OpenDescriptors() {
  const uint64_t count = NamesIn("/proc/self/fd").size();
  return count > 0 ? count - 1 : 0;  // without the descriptor of this look
}

double CpuSeconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

DirectorMeter::DirectorMeter(Deps deps)
    : deps_(std::move(deps)),
      started_(absl::Now()),
      successes_(deps_.director.project().state_directory()) {}

void DirectorMeter::NoteEnd(const EndedCook& cook) {
  {
    base::MutexLock lock(mutex_);
    ++ended_[{cook.urgency_class, cook.exit_code}];
    took_[cook.urgency_class] = cook.took;
  }
  if (!cook.by_the_book || cook.exit_code != 0 || cook.platforms.empty()) return;
  successes_.Note(cook.platforms, absl::Now());
  Post([this] { successes_.Keep(); });
}

void DirectorMeter::Post(std::function<void()> task) {
  base::MutexLock lock(mutex_);
  if (!files_.has_value()) files_.emplace();
  files_->Post(std::move(task));
}

// Asks the thread for a look, unless the last look is young.
void DirectorMeter::LookSoon() {
  {
    base::MutexLock lock(mutex_);
    if (absl::Now() < looked_at_ + kLookInterval) return;
  }
  if (!is_looking_.exchange(true)) Post([this] { Look(); });
}

void DirectorMeter::Look() {
  Looked looked;
  ProjectStores& stores = deps_.director.stores();
  if (auto stats = stores.admin().Stats({.counts_unadopted = false}); stats.ok())
    looked.stats = *std::move(stats);
  if (const auto info = stores.store().Info(); info.ok()) looked.loss_epoch = info->loss_epoch;
  const SetupPtr setup = deps_.director.setup();
  const project::FarmSection& farm = setup->project->farm;
  if (!farm.tls_cert.empty()) {
    const auto texts =
        wire::ReadTlsFiles({.certificate = farm.tls_cert, .key = farm.tls_key, .ca = farm.tls_ca});
    if (texts.ok()) looked.certificate_end = texts->end;
  }
  {
    base::MutexLock lock(mutex_);
    looked_ = std::move(looked);
    looked_at_ = absl::Now();
  }
  is_looking_ = false;
}

metrics::Figures DirectorMeter::Read(const std::vector<CookUnderWay>& cooks) {
  LookSoon();
  const ShellFigures shell = deps_.board.Read();
  const CoreFigures& core = shell.core;
  // The version without the "galley " of "galley 0.1.0".
  metrics::Figures out{.version = deps_.version.substr(deps_.version.rfind(' ') + 1),
                       .oldest_ready_s = absl::ToDoubleSeconds(core.oldest_ready),
                       .executors_lost = core.executors_lost,
                       .breakers_opened = core.breakers_opened,
                       .job_read = core.bytes_read,
                       .job_warm = core.bytes_warm,
                       .job_saved = core.bytes_saved,
                       .store_written = shell.bytes_stored,
                       .store_deduplicated = shell.bytes_deduplicated,
                       .remote_fetched = deps_.director.stores().BytesFetched(),
                       .workers_fetched = deps_.board.fetched(),
                       .workers_uploaded = deps_.board.uploaded(),
                       .store = ReadStore(),
                       .process = ReadProcess()};
  for (const absl::Duration bound : TimeCounts::kBounds)
    out.job_bounds.push_back(absl::ToDoubleSeconds(bound));
  for (const CookerFigures& cooker : core.cookers) {
    const bool is_empty = cooker.name.empty() && cooker.results == CookerFigures().results;
    if (!is_empty) out.cookers.push_back(CookerOf(cooker));
  }
  for (size_t i = 0; i < kRetryCauseCount; ++i)
    out.retried[std::string(RetryCauseName(static_cast<RetryCause>(i)))] = core.retried[i];
  ReadCooks(cooks, core, out);
  ReadFarm(core, out);
  return out;
}

void DirectorMeter::ReadCooks(const std::vector<CookUnderWay>& cooks, const CoreFigures& core,
                              metrics::Figures& out) {
  for (const auto& [platform, time] : successes_.All()) out.last_success[platform] = Seconds(time);
  base::MutexLock lock(mutex_);
  if (looked_.certificate_end) out.certificate_end = Seconds(*looked_.certificate_end);
  for (const CookClass one : kClasses) {
    // Every code from the beginning: a counter that appears with 1 has not risen for Prometheus.
    for (const int code : {0, 1, 2, 3, 130}) {
      const auto ended = ended_.find({one, code});
      out.cooks_ended[{std::string(ClassName(one)), code}] =
          ended == ended_.end() ? 0 : ended->second;
    }
    metrics::CookClass& of_class = out.classes.emplace_back();
    of_class.name = ClassName(one);
    for (const CookUnderWay& cook : cooks) {
      if (cook.urgency_class == one) ++(cook.is_waiting ? of_class.waiting : of_class.running);
    }
    for (size_t state = 0; state < kStateCount; ++state)
      of_class.packages[std::string(StateLabel(static_cast<State>(state)))] =
          core.packages[static_cast<size_t>(one)][state];
    if (const auto took = took_.find(one); took != took_.end())
      of_class.last_duration = absl::ToDoubleSeconds(took->second);
  }
}

void DirectorMeter::ReadFarm(const CoreFigures& core, metrics::Figures& out) const {
  std::vector<WorkerStatus> workers;
  if (const auto shell = deps_.admission.shell(); shell != nullptr) workers = shell->Workers();
  const std::string launched = deps_.director.setup()->project->farm.launcher;
  const std::pair<std::string, Pool> pools[] = {
      {"local", Pool::kLocal}, {launched, Pool::kLaunched}, {kByHand, Pool::kForeign}};
  uint64_t in_hand = 0;
  for (const auto& [name, pool] : pools) {
    // Local helpers may exist beside any launcher.
    if (pool == Pool::kLaunched && (name == "local" || name == "none")) continue;
    const PoolFigures& counts = core.pools[static_cast<size_t>(pool)];
    metrics::Launcher& launcher = out.launchers.emplace_back();
    launcher.name = name;
    launcher.started = counts.started;
    launcher.lost = counts.lost;
    launcher.launches_failed = counts.launches_failed;
    for (const char* state : {"queued", "starting", "idle", "busy", "held", "draining"})
      launcher.workers[state] = 0;
    for (const WorkerStatus& worker : workers) {
      if (worker.launcher != name) continue;
      ++launcher.workers[StateOf(worker)];
      launcher.slots += worker.slots;
      in_hand += worker.jobs;
      if (worker.state == "attached" || worker.state == "held")
        out.workers.push_back(
            {.name = worker.name, .launcher = name, .last_job = Seconds(worker.last_job)});
    }
  }
  out.jobs = {{"ready", core.ready},
              {"no_worker", core.parked},
              {"no_resource", core.stalled},
              {"in_hand", in_hand}};
}

metrics::Store DirectorMeter::ReadStore() const {
  const project::StoreSection& section = deps_.director.project().store;
  metrics::Store out{.bytes_max = section.size_bytes_max};
  {
    base::MutexLock lock(mutex_);
    if (looked_.stats) {
      out.bytes = looked_.stats->segment_bytes + looked_.stats->file_bytes;
      out.quarantined = looked_.stats->quarantined;
    }
    out.loss_epoch = looked_.loss_epoch;
  }
  struct statvfs disk {};
  if (::statvfs(section.directory.c_str(), &disk) == 0)
    out.disk = {static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize,
                static_cast<uint64_t>(disk.f_blocks) * disk.f_frsize};
  if (deps_.director.stores().remote() != nullptr)
    out.is_remote_up = deps_.director.RemoteDown().empty();
  return out;
}

metrics::Process DirectorMeter::ReadProcess() const {
  return {.started = Seconds(started_),
          .cpu_seconds = CpuSeconds(),
          .memory_bytes = ResidentBytes(::getpid()),
          .descriptors = OpenDescriptors(),
          .descriptors_max = CurrentDescriptorLimit().soft};
}

}  // namespace galley::director
