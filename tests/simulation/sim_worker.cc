#include "tests/simulation/sim_worker.h"

#include <algorithm>

#include "common/record/action.h"
#include "common/record/observed_value.h"
#include "common/wire/convert.h"
#include "tests/simulation/sim_store.h"

namespace galley::simulation {

using director::PlatformIndex;

SimWorker::SimWorker(const Options& options, Surroundings& around, Callbacks callbacks)
    : options_(options),
      around_(around),
      callbacks_(std::move(callbacks)),
      session_({.worker_id = options.id,
                .token = "token",
                .machine = options.machine,
                .cookers_json = World::CookersJson(options.is_older),
                .slots = options.slots,
                .pid = 2,
                .session = around.random.Below(1u << 30) + 2,
                .is_without_files = options.is_remote,
                .offer = options.offer}),
      uploads_({.cache = around.machine.caches[options.cache],
                .after = [this](absl::Duration delay,
                                Schedule::Act act) { After(delay, std::move(act)); },
                .find_missing =
                    [this](const std::vector<Digest>& digests, const SimUploads::Found& found) {
                      callbacks_.find_missing(digests, InTurn(found));
                    },
                .upload =
                    [this](const SimUploads::Blobs& blobs, const SimUploads::Done& done) {
                      callbacks_.upload(blobs, InTurn(done));
                    },
                .deliver = [this](const worker::SessionEvent& event) { Step(event); },
                .end_job = [this](const auto& end) { EndJob(end); }}),
      slots_(worker::LanesFor(options.slots)) {
  if (options.memory_bytes > 0) SampleMemory();  // for Hello
}

void SimWorker::After(absl::Duration delay, Schedule::Act act) {
  around_.schedule.After(delay, [this, life = std::weak_ptr(life_), act = std::move(act)] {
    if (life.expired() || !is_alive_) return;
    if (is_frozen_) {
      waiting_.push_back(act);
    } else {
      act();
    }
  });
}

// Does what the real session's shell does.
void SimWorker::SampleMemory() {
  const bool wants_last_slot = session_.WantsLastSlot();
  if (!wants_last_slot && around_.machine.last_slot == this) around_.machine.last_slot = nullptr;
  was_short_ = around_.machine.is_short;
  const uint64_t left_bytes = was_short_ ? options_.memory_bytes / 16 : options_.memory_bytes;
  Step(worker::MemorySampled{.room = {.limit_bytes = options_.memory_bytes,
                                      .limit_source = "machine",
                                      .left_bytes = left_bytes,
                                      .left_source = "machine"},
                             .executor_bytes = LargestJob(),
                             .holds_last_slot = wants_last_slot && TakesLastSlot()});
  if (session_.WantsLastSlot()) around_.faults.Count(Fault::kMemoryShort);
  After(absl::Milliseconds(session_.in_hand() > 0 ? 500 : 1'000), [this] { SampleMemory(); });
}

bool SimWorker::TakesLastSlot() {
  if (around_.machine.last_slot == nullptr) around_.machine.last_slot = this;
  return around_.machine.last_slot == this;
}

uint64_t SimWorker::LargestJob() const {
  uint64_t largest = 0;
  for (const Slot& slot : slots_) {
    if (slot.is_busy)
      largest = std::max(largest, around_.world.At(slot.jobs.front().job().package()).memory_bytes);
  }
  return largest;
}

void SimWorker::Kill() {
  is_alive_ = false;
  if (around_.machine.last_slot == this) around_.machine.last_slot = nullptr;
  life_.reset();
}

// Hangs; every other time for good.
void SimWorker::Hang() {
  is_frozen_ = true;
  if (!around_.random.Percent(50)) return;
  around_.schedule.After(around_.random.Some(30'000), [this, life = std::weak_ptr(life_)] {
    if (!life.expired()) Thaw();
  });
}

void SimWorker::Thaw() {
  if (!is_alive_ || !is_frozen_) return;
  is_frozen_ = false;
  thawed_at_ = around_.schedule.now();
  std::vector<Schedule::Act> waiting = std::move(waiting_);
  waiting_.clear();
  for (Schedule::Act& act : waiting) After(absl::ZeroDuration(), std::move(act));
}

void SimWorker::Step(const worker::SessionEvent& event) {
  std::vector<worker::SessionEffect> effects;
  session_.Step(around_.schedule.now(), event, effects);
  for (worker::SessionEffect& effect : effects) {
    if (is_alive_) std::visit([this](auto& what) { Do(what); }, effect);
  }
  if (is_alive_) FlushWhenDue();
}

void SimWorker::Pass(const worker::SessionEvent& event) {
  if (options_.is_remote) return uploads_.Take(event);
  Step(event);
}

// Ends the executor, if it still has the attempt.
void SimWorker::EndJob(const worker::UploadQueue::Delivery::End& end) {
  const Slot& slot = slots_[end.slot];
  if (!slot.is_busy || slot.jobs.front().job().attempt() != end.attempt) return;
  auto run = std::make_shared<Run>();
  run->slot = end.slot;
  run->job = slot.jobs.front();
  LoseExecutor(run, v1::Failed::INFRASTRUCTURE, end.error);
}

void SimWorker::FlushWhenDue() {
  const absl::Time due = session_.NextFlush();
  if (due >= flushes_at_) return;
  const absl::Time soon = around_.schedule.now() + absl::Milliseconds(1);
  flushes_at_ = std::max(due, soon);
  After(flushes_at_ - around_.schedule.now(), [this, at = flushes_at_] {
    if (at != flushes_at_) return;  // an earlier flush was scheduled later
    flushes_at_ = absl::InfiniteFuture();
    if (session_.NextFlush() > around_.schedule.now()) return FlushWhenDue();
    std::vector<worker::SessionEffect> effects;
    session_.Flush(effects);
    for (worker::SessionEffect& effect : effects) {
      if (is_alive_) std::visit([this](auto& what) { Do(what); }, effect);
    }
  });
}

void SimWorker::OnConnected() {
  After(absl::ZeroDuration(), [this] { Step(worker::Connected{}); });
}

void SimWorker::OnDisconnected() {
  After(absl::ZeroDuration(), [this] { Step(worker::Disconnected{}); });
  After(around_.random.Some(200), callbacks_.connect);
}

void SimWorker::OnRefused() {
  After(absl::ZeroDuration(), [this] { Step(worker::Refused{"unknown worker"}); });
}

void SimWorker::OnReceived(const v1::ToWorker& message) {
  After(absl::ZeroDuration(), [this, message] { Step(worker::Received{message}); });
}

void SimWorker::OnTick() {
  After(absl::ZeroDuration(), [this] { Step(worker::Tick{.memory_bytes = 1}); });
}

std::vector<uint64_t> SimWorker::running() const {
  std::vector<uint64_t> attempts;
  for (const Slot& slot : slots_) {
    if (!slot.jobs.empty()) attempts.push_back(slot.jobs.front().job().attempt());
  }
  return attempts;
}

// A worker works for no overtaken director.
void SimWorker::Do(worker::ConfigureSlots& configure) {
  const uint32_t term = configure.welcome.term();
  if (std::exchange(term_, term) > term)
    around_.checks.Break("safety: " + options_.id + " works for a director that was overtaken");
}

void SimWorker::Do(worker::SendMessage& send) {
  if (send.message.pending().attempts_size() > static_cast<int>(options_.slots))
    around_.checks.Break("safety: " + options_.id +
                         " says that more are pending than it has slots");
  if (options_.hides_uploads) send.message.clear_uploading();
  callbacks_.send(std::move(send.message));
}
void SimWorker::Do(worker::HangUp&) { callbacks_.hang_up(); }

void SimWorker::Do(worker::ExitSession&) { Exit(); }

void SimWorker::Exit() {
  Kill();
  callbacks_.exited();
}

void SimWorker::Do(worker::LeaveOut& leave_out) {
  left_out_[leave_out.part.attempt()].insert(leave_out.part.platforms().begin(),
                                             leave_out.part.platforms().end());
}

void SimWorker::Do(worker::GiveSegments& give) {
  segments_.insert(segments_.end(), give.segments.begin(), give.segments.end());
}

void SimWorker::Do(worker::StartJob& start) {
  if (options_.is_older && World::CookerOf(start.job.job().package()) == "command")
    around_.checks.Break("safety: " + options_.id + " is given a job of a cooker that it lacks");
  Slot& slot = slots_[start.slot];
  slot.jobs.push_back(start.job);
  CheckSlots();
  CheckMemory();
  if (!options_.is_unfit) return Next(start.slot);
  around_.faults.Count(Fault::kWorkerUnfit);
  After(around_.random.Some(50), [this, index = start.slot] {
    worker::SlotFailed failed{.slot = index, .attempts = {}, .error = "cannot start an executor"};
    for (const v1::ExecutorJob& job : slots_[index].jobs)
      failed.attempts.push_back(job.job().attempt());
    slots_[index].jobs.clear();
    Pass(failed);
  });
}

void SimWorker::Do(worker::StopJob& stop) {
  Slot& slot = slots_[stop.slot];
  const auto at = std::ranges::find_if(
      slot.jobs, [&](const auto& job) { return job.job().attempt() == stop.attempt; });
  if (at == slot.jobs.end()) return;
  const bool is_running = at == slot.jobs.begin() && slot.is_busy;
  slot.jobs.erase(at);
  if (is_running) {
    slot.is_busy = false;
    ++slot.run;
    std::erase(lanes_waiting_, stop.slot);
  }
  After(absl::Milliseconds(1), [this, stop, is_running] {
    if (is_running) {
      Pass(worker::SlotLost{.slot = stop.slot, .attempt = stop.attempt, .error = "stopped"});
    } else {
      v1::Report report;
      report.mutable_ended();
      Pass(worker::SlotReported{stop.slot, stop.attempt, report});
    }
    Next(stop.slot);
  });
}

// Apart from jobs whose programs wait, at most as many as slots, no job runs without a slot.
void SimWorker::CheckSlots() {
  const auto pending_end =
      lanes_waiting_.begin() + std::min<ptrdiff_t>(lanes_waiting_.size(), options_.slots);
  uint32_t held = 0;
  for (uint32_t lane = 0; lane < slots_.size(); ++lane)
    held += !slots_[lane].jobs.empty() &&
            std::find(lanes_waiting_.begin(), pending_end, lane) == pending_end;
  if (held > options_.slots)
    around_.checks.Break("safety: " + options_.id + " began a job without a slot for it");
}

// A job has just begun. While memory is short only one job may run on the whole machine.
void SimWorker::CheckMemory() {
  if (!was_short_) return;
  size_t jobs = 0;
  for (const Slot& slot : slots_) jobs += slot.jobs.size();
  if (jobs > 1 || around_.machine.last_slot != this)
    around_.checks.Break("safety: " + options_.id + " began a job though memory is short");
}

void SimWorker::TellPending(uint32_t lane, uint64_t attempt, bool is_pending) {
  std::erase(lanes_waiting_, lane);
  if (is_pending) lanes_waiting_.push_back(lane);
  Pass(worker::SlotPending{.slot = lane, .attempt = attempt, .is_pending = is_pending});
}

bool SimWorker::Waits(const RunPtr& run) {
  if (std::exchange(run->has_waited, true) || !World::StartsPrograms(run->name) ||
      !around_.faults.Happens(Fault::kProgramWaited, 30))
    return false;
  TellPending(run->slot, run->job.job().attempt(), true);
  After(around_.random.Some(1'500), [this, run] { GoesOn(run); });
  return true;
}

// The program works again, or ends first; it may wait once more.
void SimWorker::GoesOn(const RunPtr& run) {
  if (IsOver(run)) return;
  if (around_.random.Percent(70)) TellPending(run->slot, run->job.job().attempt(), false);
  if (!is_alive_) return;
  run->has_waited = around_.random.Percent(70);
  After(around_.random.Some(100), [this, run] { Save(run); });
}

absl::Duration SimWorker::Duration(int64_t ms_max) {
  const absl::Duration duration = around_.machine.slowness * around_.random.Some(ms_max);
  return around_.faults.Happens(Fault::kWorkerSlow, 4) ? 50 * duration : duration;
}

void SimWorker::Next(uint32_t index) {
  Slot& slot = slots_[index];
  if (options_.is_unfit || slot.is_busy || slot.jobs.empty()) return;
  slot.is_busy = true;
  auto run = std::make_shared<Run>();
  run->slot = index;
  run->run = ++slot.run;
  run->job = slot.jobs.front();
  run->name = run->job.job().package();
  ++around_.cooks[run->name];
  run->load_time = Duration(30);
  After(run->load_time, [this, run] { Load(run); });
}

bool SimWorker::IsOver(const RunPtr& run) const { return slots_[run->slot].run != run->run; }

void SimWorker::Tell(const RunPtr& run, v1::Report report) {
  Lie(report);
  Pass(worker::SlotReported{run->slot, run->job.job().attempt(), report});
}

void SimWorker::Finish(const RunPtr& run) {
  Slot& slot = slots_[run->slot];
  // Executor slots do the same, since their events may wait for uploads.
  if (options_.is_remote &&
      std::find(lanes_waiting_.begin(), lanes_waiting_.end(), run->slot) != lanes_waiting_.end())
    TellPending(run->slot, run->job.job().attempt(), false);
  ++slot.run;
  slot.is_busy = false;
  slot.jobs.pop_front();
  std::erase(lanes_waiting_, run->slot);
}

void SimWorker::Fail(const RunPtr& run, v1::Failed::Cause cause, const std::string& error) {
  Finish(run);
  v1::Report report;
  report.mutable_failed()->set_cause(cause);
  report.mutable_failed()->set_error(error);
  Tell(run, report);
  Next(run->slot);
}

// A package's poison is in its source, whatever runs beside it.
std::optional<v1::Opened> SimWorker::OpenedBy(const RunPtr& run, v1::Failed::Cause cause) {
  const bool is_limit = cause == v1::Failed::MEMORY || cause == v1::Failed::TIMEOUT;
  if (!is_limit || run->job.job().targets().empty()) return std::nullopt;
  v1::Opened opened;
  opened.set_platform(run->job.job().targets(0).platform());
  wire::ToProto(Digest::Of(run->source), opened.mutable_source());
  return opened;
}

void SimWorker::LoseExecutor(const RunPtr& run, v1::Failed::Cause cause, const std::string& error) {
  Finish(run);
  Pass(worker::SlotLost{.slot = run->slot,
                        .attempt = run->job.job().attempt(),
                        .cause = cause,
                        .error = error,
                        .log_tail = "last words",
                        .opened = OpenedBy(run, cause)});
  After(around_.random.Some(20), [this, slot = run->slot] { Next(slot); });
}

void SimWorker::TakeDown(const RunPtr& run, const WorldPackage& package) {
  const auto die = [this, run, id = package.id](v1::Failed::Cause cause, const std::string& error) {
    if (IsOver(run)) return;
    around_.faults.Count(Fault::kPoison);
    // Somebody sees the crash, and mends the package; perhaps not before it is quarantined.
    const WorldPackage& now = around_.world.At(around_.world.NameNow(id));
    if (++around_.executors_lost[id] == now.mended_after && now.will_change) around_.edit(id);
    LoseExecutor(run, cause, error);
  };
  switch (package.poison()) {
    case Poison::kCrashes:
      return die(v1::Failed::CRASHED, "signal 11");
    case Poison::kOutgrowsMemory:
      return die(v1::Failed::MEMORY, "more than its limit");
    case Poison::kHangs:
      return After(absl::Microseconds(run->job.job().timeout_us()),
                   [die] { die(v1::Failed::TIMEOUT, "no end in time"); });
  }
}

// Whether the file differs from the snapshot's.
bool SimWorker::IsStale(const RunPtr& run, const std::string& file) {
  const Files& table = around_.tables[run->job.snapshot_file()].files;
  const auto known = table.find(file);
  if (options_.is_remote) {
    // The table says that the file is absent, so nobody looks.
    if (known == table.end() || HasToday(known->second, file)) return false;
  } else {
    const std::optional<std::string> now = around_.world.BytesOf(file);
    if (known == table.end() ? !now : now == known->second) return false;
  }
  Finish(run);
  v1::Report report;
  report.mutable_stale()->set_path(file);
  Tell(run, report);
  Next(run->slot);
  return true;
}

// A remote worker reads what its machine has, whatever became of the file since. Otherwise the
// director sends the present file, if the table has the same bytes.
bool SimWorker::HasToday(const std::string& bytes_in_table, const std::string& file) {
  const Digest digest = Digest::Of(bytes_in_table);
  if (cache().contains(digest)) return true;
  if (around_.world.BytesOf(file) != bytes_in_table) return false;
  cache().emplace(digest, bytes_in_table);
  return true;
}

std::optional<std::string> SimWorker::BytesOf(const RunPtr& run, const std::string& file) const {
  if (!options_.is_remote) return around_.world.BytesOf(file);
  const Files& table = around_.tables[run->job.snapshot_file()].files;
  const auto known = table.find(file);
  if (known == table.end()) return std::nullopt;
  return known->second;
}

std::optional<std::string> SimWorker::ReadBlobOf(const v1::Job& job, const Digest& digest) {
  if (options_.is_remote) {
    if (const auto found = cache().find(digest); found != cache().end()) return found->second;
    const std::optional<std::string> fetched = callbacks_.fetch(digest);
    if (fetched.has_value() && Digest::Of(*fetched) == digest) {
      cache().emplace(digest, *fetched);
      return fetched;
    }
    return std::nullopt;
  }
  for (const v1::BlobWritten& blob : job.blobs()) {
    if (blob.digest().hash() != digest.hex()) continue;
    auto read = ReadVerified(around_.disk, digest, {blob.segment(), blob.offset()});
    if (read.ok()) return *std::move(read);
  }
  return std::nullopt;
}

v1::BlobWritten SimWorker::Store(const std::string& bytes) {
  const Digest digest = Digest::Of(bytes);
  if (options_.is_remote) {
    cache()[digest] = bytes;
    v1::BlobWritten blob;
    wire::ToProto(digest, blob.mutable_digest());
    return blob;
  }
  around_.disk.set_is_director(false);
  const store::BlobLocation location =
      WriteBlob(around_.disk, segments_.back(), digest, bytes, digest.hash()[0] % 4 == 0);
  around_.disk.set_is_director(true);
  v1::BlobWritten blob;
  wire::ToProto(digest, blob.mutable_digest());
  blob.set_segment(location.segment);
  blob.set_offset(location.offset);
  return blob;
}

const std::string& SimWorker::PlatformOf(const RunPtr& run, uint32_t platform) const {
  return around_.tables[run->job.snapshot_file()].platforms.at(platform);
}

// The package by its bytes, whatever the present name of its file is.
const WorldPackage& SimWorker::LoadedBy(const RunPtr& run) const {
  return World::IsGenerated(run->name) ? around_.world.child : around_.world.In(run->source);
}

bool SimWorker::Refuses(const RunPtr& run) {
  const std::string programs = World::ProgramsOf(run->name);
  if (!options_.is_remote || programs.empty()) return false;
  if (around_.faults.Has(Fault::kToolDiffers) &&
      Digest::Of(options_.id + programs).hash()[0] % 2 == 0) {
    around_.faults.Count(Fault::kToolDiffers);
    Fail(run, v1::Failed::OTHER_TOOL, "wanted another " + programs);
    return true;
  }
  if (!around_.faults.Has(Fault::kFilesNeeded) || !World::NeedsFiles(run->name)) return false;
  around_.faults.Count(Fault::kFilesNeeded);
  Fail(run, v1::Failed::NEEDS_FILES, "a file that it looks for is not there");
  return true;
}

void SimWorker::Load(const RunPtr& run) {
  if (IsOver(run) || Refuses(run)) return;
  if (around_.faults.Happens(Fault::kWorkerCrashed, 2)) return Exit();
  if (around_.faults.Happens(Fault::kWorkerHung, 2)) {
    Hang();
    return After(absl::Milliseconds(1), [this, run] { Load(run); });
  }
  if (around_.faults.Happens(Fault::kExecutorCrashed, 3))
    return LoseExecutor(run, v1::Failed::INFRASTRUCTURE, "signal 9 that nobody explains");
  if (around_.faults.Happens(Fault::kInputUnreadable, 3))
    return Fail(run, v1::Failed::INFRASTRUCTURE, "input/output error");
  const WorldPackage& file = around_.world.At(run->name);
  const bool changes_early = Digest::Of(run->name).hash()[1] % 2 == 0;
  if (file.will_change && changes_early && !file.is_poison) around_.edit(file.id);
  if (IsStale(run, run->name)) return;
  if (run->job.job().has_generated_source()) {
    // The blob's bytes, checked as a worker checks them.
    const auto digest = wire::FromProto(run->job.job().generated_source());
    const std::optional<std::string> bytes = ReadBlobOf(run->job.job(), *digest);
    if (!bytes) return Fail(run, v1::Failed::INFRASTRUCTURE, "its source's blob cannot be read");
    run->source = *bytes;
  } else {
    const std::optional<std::string> bytes = BytesOf(run, run->name);
    if (!bytes) return Fail(run, v1::Failed::CAUSE_UNKNOWN, "a job for what is no package");
    run->source = *bytes;
  }
  const WorldPackage& package = LoadedBy(run);
  for (const std::string& include : package.includes) {
    if (IsStale(run, World::FileOf(run->name, include))) return;
  }
  if (package.IsPoison()) return TakeDown(run, package);
  if (around_.world.fails_early && !CanBeCooked(run)) return Save(run);
  // Platforms that have the same references share a report.
  std::map<std::vector<record::Reference>, v1::Report> reports;
  for (const v1::Target& target : run->job.job().targets()) {
    const std::string& platform = PlatformOf(run, target.platform());
    reports[package.ReferencesOn(platform)].mutable_loaded()->add_platforms(target.platform());
  }
  for (auto& [references, report] : reports) {
    const record::Details details{.references = references,
                                  .generated = World::GeneratedBy(package, run->source)};
    v1::Loaded& loaded = *report.mutable_loaded();
    loaded.set_details(record::EncodeDetails(details));
    loaded.set_load_us(absl::ToInt64Microseconds(run->load_time));
    report.mutable_bytes()->set_read(run->source.size());
    for (const record::Generated& one : details.generated)
      *loaded.add_blobs() = Store(World::GeneratedBytes(run->source, one.name));
    if (is_alive_) Tell(run, report);
  }
  if (is_alive_) SaveAfter(run, 20);
}

// Returns false for a verdict, and for a job that ends for want of what it reads.
bool SimWorker::CanBeCooked(const RunPtr& run) {
  for (const v1::Target& target : run->job.job().targets()) {
    std::vector<record::Observed> observed;
    if (!ReadInputs(run, target.platform(), observed)) return false;
  }
  return !LoadedBy(run).is_verdict;
}

std::optional<std::string> SimWorker::ReadInputs(const RunPtr& run, uint32_t platform,
                                                 std::vector<record::Observed>& observed) {
  const WorldPackage& package = LoadedBy(run);
  const v1::Job& job = run->job.job();
  std::string read;
  for (const std::string& include : package.includes) {
    const std::string file = World::FileOf(run->name, include);
    if (IsStale(run, file)) return std::nullopt;
    const std::optional<std::string> bytes = BytesOf(run, file);
    observed.push_back({{record::ObservationKind::kFile, include, ""},
                        bytes ? Digest::Of(*bytes).ToString() : "absent"});
    read += bytes.value_or("") + ",";
  }
  for (const std::string& input : package.cooked_inputs) {
    const auto given = std::ranges::find_if(job.cooked(), [&](const auto& one) {
      return one.package() == input && one.platform() == platform;
    });
    if (given == job.cooked().end()) {
      Finish(run);
      v1::Report report;
      report.mutable_needs()->set_package(input);
      report.mutable_needs()->set_platform(platform);
      Tell(run, report);
      Next(run->slot);
      return std::nullopt;
    }
    const auto digest = wire::FromProto(given->outputs(0).digest());
    const std::optional<std::string> bytes = ReadBlobOf(job, *digest);
    if (!bytes) {
      Fail(run, v1::Failed::INFRASTRUCTURE, "the output of " + input + " cannot be read");
      return std::nullopt;
    }
    observed.push_back({{record::ObservationKind::kCooked, input, ".out"}, digest->ToString()});
    read += *bytes + ",";
  }
  if (package.looks_at_environment) {
    const std::string& value = around_.world.environment;
    observed.push_back(
        {{record::ObservationKind::kEnv, World::kVariable, ""}, record::SetValue(value)});
    read += value;
  }
  return read;
}

void SimWorker::Save(const RunPtr& run) {
  if (IsOver(run)) return;
  const WorldPackage& package = LoadedBy(run);
  const v1::Job& job = run->job.job();
  const std::set<uint32_t>& left_out = left_out_[job.attempt()];
  while (run->target < job.targets_size() && left_out.contains(job.targets(run->target).platform()))
    ++run->target;
  if (run->target == job.targets_size()) {
    Finish(run);
    v1::Report report;
    report.mutable_ended();
    Tell(run, report);
    if (!is_alive_) return;
    // A message that comes too late, about a job that is over. Not from a remote worker: its
    // session may not know yet that the job is over, and no slot would send this after the end.
    if (!options_.is_remote && around_.faults.Happens(Fault::kProgramWaited, 5))
      Pass(worker::SlotPending{
          .slot = run->slot, .attempt = run->job.job().attempt(), .is_pending = true});
    // The file changes after it was read: the report is right only for an older snapshot.
    if (package.will_change) around_.edit(package.id);
    Next(run->slot);
    // The worker may hang with nothing in hand.
    if (around_.faults.Happens(Fault::kWorkerHung, 1)) Hang();
    return;
  }
  if (around_.faults.Happens(Fault::kWorkerCrashed, 2)) return Exit();
  if (Waits(run)) return;
  run->has_waited = false;
  const uint32_t platform = job.targets(run->target++).platform();
  const std::string& platform_name = PlatformOf(run, platform);
  std::vector<record::Observed> observed;
  const std::optional<std::string> read = ReadInputs(run, platform, observed);
  if (!read) return;
  if (!package.is_shared)
    observed.push_back({{record::ObservationKind::kPlatform, "name", ""}, "=" + platform_name});
  std::string text = World::Cooked(package, platform_name, run->source, *read);
  if (package.is_fickle && around_.faults.Happens(Fault::kCookedOtherwise, 30))
    text = World::Otherwise(text);
  if (options_.is_wrong && around_.faults.Happens(Fault::kWorkerWrong, 50)) {
    text = World::Otherwise(text) + " by " + options_.id;
    around_.checks.wrong.insert(Digest::Of(text));
  }
  v1::Report report;
  v1::Saved saved;
  if (package.is_shared && text == run->last_text) {
    saved = run->last_saved;
    saved.set_shared(true);
  } else {
    record::Result result;
    result.details = {.references = package.ReferencesOn(platform_name),
                      .generated = World::GeneratedBy(package, run->source)};
    if (package.is_verdict) {
      result = {.is_verdict = true, .error = "wrong input"};
    } else {
      const v1::BlobWritten blob = Store(text);
      result.outputs = {{".out", Digest::Of(text), false}};
      *saved.add_blobs() = blob;
      for (const record::Generated& one : result.details.generated)
        *saved.add_blobs() = Store(World::GeneratedBytes(run->source, one.name));
    }
    result.provenance.worker = options_.id;
    result.provenance.load_time = run->load_time;
    result.provenance.memory_peak_bytes = package.memory_bytes;
    wire::ToProto(Digest::Of(run->source), saved.mutable_source());
    const auto canonical = record::Canonical(std::move(observed));
    saved.set_observed(record::EncodeObserved(*canonical));
    saved.set_result(record::EncodeResult(result));
  }
  saved.set_save_us(absl::ToInt64Microseconds(run->save_time));
  report.mutable_bytes()->set_read(read->size());
  if (!saved.shared() && !package.is_verdict) report.mutable_bytes()->set_saved(text.size());
  saved.set_platform(platform);
  run->last_text = text;
  run->last_saved = saved;
  if (package.is_verdict) {
    report.mutable_failed()->set_cause(v1::Failed::VERDICT);
    report.mutable_failed()->add_platforms(platform);
    *report.mutable_failed()->mutable_verdict() = saved;
  } else {
    *report.mutable_saved() = saved;
  }
  Tell(run, report);
  if (is_alive_) SaveAfter(run, 30);
}

void SimWorker::SaveAfter(const RunPtr& run, int64_t ms_max) {
  run->save_time = Duration(ms_max);
  After(run->save_time, [this, run] { Save(run); });
}

// The session was taken over by somebody: its reports are wrong, and must harm no jobs but its own.
void SimWorker::Lie(v1::Report& report) {
  if (!report.has_saved() || !around_.faults.Happens(Fault::kWorkerLied, 4)) return;
  v1::Saved& saved = *report.mutable_saved();
  switch (around_.random.Below(5)) {
    case 0:  // its bytes lie elsewhere
      if (saved.blobs_size() == 0) break;
      saved.mutable_blobs(0)->set_offset(8);
      saved.mutable_blobs(0)->set_segment(segments_.empty() ? 1 : segments_.back());
      break;
    case 1:  // they are others
      if (saved.blobs_size() > 0)
        wire::ToProto(Digest::Of("a lie"), saved.mutable_blobs(0)->mutable_digest());
      break;
    case 2:
      saved.set_result("no result");
      break;
    case 3:  // they were never written
      saved.clear_blobs();
      break;
    case 4:  // of another source
      wire::ToProto(Digest::Of(kFalseSource), saved.mutable_source());
      break;
  }
}

}  // namespace galley::simulation
