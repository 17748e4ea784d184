#include "director/shell/director_shell.h"

#include <algorithm>
#include <random>

#include "common/base/hex.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/root_builder.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(20);
constexpr absl::Duration kProgressInterval = absl::Milliseconds(100);
// Of what the journal learns of a cook that has not ended; what is over within it need not be
// written.
constexpr absl::Duration kRecordInterval = absl::Milliseconds(20);

}  // namespace

DirectorShell::DirectorShell(ShellOptions options, WorldPtr world, store::Store& store,
                             Journal& journal, Trace& trace, ShellListener& listener)
    : options_(std::move(options)),
      world_(std::move(world)),
      store_(store),
      journal_(journal),
      trace_(trace),
      listener_(listener),
      reports_({.world = &world_,
                .store = &store_,
                .tools = &tools_,
                .results = &results_,
                .trace = &trace_},
               options_.look_up.trust_domain),
      look_ups_({.world = &world_,
                 .store = &store_,
                 .journal = &journal_,
                 .tools = &tools_,
                 .results = &results_,
                 .alarm =
                     [this](const std::string& text) {
                       Post(Internal([this, text] { listener_.OnWarning("", "", text); }));
                     }},
                options_.look_up),
      commit_world_(world_.Get()) {}

DirectorShell::~DirectorShell() = default;

void DirectorShell::Post(Message message) {
  {
    base::MutexLock lock(mutex_);
    if (!accepting_) return;
    inbox_.push_back(std::move(message));
  }
  inbox_changed_.NotifyAll();
}

void DirectorShell::Interrupt() { Post(Event(CancelRequested{})); }

std::vector<DirectorShell::Message> DirectorShell::TakeInbox(absl::Duration wait) {
  base::MutexLock lock(mutex_);
  if (inbox_.empty() && wait > absl::ZeroDuration())
    inbox_changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(wait));
  return std::exchange(inbox_, {});
}

absl::StatusOr<ShellOutcome> DirectorShell::Run(const CookRequested& request) {
  std::map<std::string, std::string> tokens;
  for (const WorkerRecord& survivor : options_.survivors)
    tokens.emplace(survivor.worker_id, survivor.token);
  ASSIGN_OR_RETURN(
      service_,
      WorkerService::Start(
          options_.socket_path,
          {.on_attach = [this](const std::string& id,
                               const v1::FromWorker& first) { return OnAttach(id, first); },
           .on_message = [this](const std::string& id,
                                const v1::FromWorker& m) { OnMessage(id, m); },
           .on_detach =
               [](const std::string& id) {
                 // Its process tells the rest: the launcher reports a death; one that lives
                 // attaches again.
                 LogInfo("worker={} detached", id);
               }},
          std::move(tokens)));
  launcher_ = CreateLocalLauncher(options_.worker_program,
                                  [this](const WorkerExit& exit) { OnWorkerExit(exit); });
  CookOptions core_options = options_.core;
  core_ = std::make_unique<CookCore>(core_options, world_.Get()->table, 1);
  request_ = request;
  AdoptSurvivors();
  {
    base::MutexLock lock(mutex_);
    is_serving_ = true;
  }

  Loop(request);

  launcher_->StopAll(kStopGrace);
  commit_thread_.Drain();
  while (TakeCommitted()) {
  }
  {
    base::MutexLock lock(mutex_);
    accepting_ = false;
  }
  service_->Stop();
  ShellOutcome outcome;
  outcome.ended = *ended_;
  outcome.counters = core_->counters();
  outcome.roots = roots_;
  outcome.bytes_read = reports_.counters().bytes_read;
  outcome.bytes_stored = bytes_stored_;
  outcome.bytes_deduplicated = bytes_deduplicated_;
  outcome.collections = SumOfCollections();
  outcome.world = world_.Get();
  outcome.remembered = RecordInstigators();
  return outcome;
}

void DirectorShell::Loop(const CookRequested& request) {
  StepCore(request);
  while (!ended_) {
    const bool has_agenda = core_->has_agenda();
    std::vector<Message> messages = TakeInbox(has_agenda ? absl::ZeroDuration() : Patience());
    for (Message& message : messages) {
      if (ended_) break;
      if (auto* event = std::get_if<Event>(&message)) {
        StepCore(*event);
      } else {
        std::get<Internal>(message)();
      }
    }
    if (!ended_ && (messages.empty() || core_->has_agenda())) StepCore(Tick{});
    StartCommit();
    const absl::Time now = clock_.Monotonic();
    if (now - last_progress_ >= kProgressInterval) {
      last_progress_ = now;
      listener_.OnProgress(core_->counters(), core_->progress());
    }
  }
  CommitPending();
  listener_.OnProgress(core_->counters(), core_->progress());
}

// How long the loop may sleep.
absl::Duration DirectorShell::Patience() {
  if (commits_running_ > 0 || pending_commit_.empty()) return kTick;
  return std::clamp(NextCommit() - clock_.Monotonic(), absl::ZeroDuration(), kTick);
}

absl::Time DirectorShell::NextCommit() const {
  return pacing_.Next({.results = pending_commit_.size(),
                       .is_urgent = is_commit_urgent_,
                       .has_jobs = core_->has_jobs()});
}

void DirectorShell::StepCore(const Event& event) {
  std::vector<Effect> effects;
  core_->Step(clock_.Monotonic(), event, effects);
  Execute(effects);
}

void DirectorShell::Execute(std::vector<Effect>& effects) {
  for (Effect& effect : effects) {
    std::visit([this](const auto& one) { Do(one); }, effect);
  }
}

RecipesPtr DirectorShell::RecipesOf(PackageId package) const {
  const WorldPtr world = world_.Get();
  const std::string& name = core_->NameOf(package);
  return core_->GeneratedOf(package) != nullptr ? world->table->GeneratedRecipesOf(name)
                                                : world->table->RecipesOf(name);
}

std::vector<CookedOutputs> DirectorShell::CookedOf(const std::vector<CookedResult>& cooked) const {
  std::vector<CookedOutputs> outputs;
  for (const CookedResult& one : cooked) {
    const StoredResultPtr stored = results_.Get(one.result);
    if (stored == nullptr) continue;
    if (outputs.size() <= one.platform) outputs.resize(one.platform + 1);
    outputs[one.platform][core_->NameOf(one.package)] = stored->result.outputs;
  }
  return outputs;
}

void DirectorShell::Do(const LookUp& effect) {
  std::vector<LookUpItem> items;
  LookedUp refused;
  for (const LookUp::Item& item : effect.items) {
    LookUpItem out{.package = item.package,
                   .name = core_->NameOf(item.package),
                   .platforms = item.platforms,
                   .generation = item.generation,
                   .recipes = RecipesOf(item.package),
                   .cooked = CookedOf(item.cooked)};
    if (const record::Generated* generated = core_->GeneratedOf(item.package))
      out.generated_source = generated->source;
    if (out.recipes == nullptr) {
      for (PlatformIndex platform = 0; platform < options_.core.platform_count; ++platform) {
        if ((item.platforms & MaskOf(platform)) == 0) continue;
        refused.items.push_back({item.package, platform, item.generation,
                                 LookedUp::Error{"it is no package any more"}});
      }
      continue;
    }
    items.push_back(std::move(out));
  }
  if (!refused.items.empty()) Post(Event(std::move(refused)));
  if (items.empty()) return;
  RunLookUps(std::move(items));
}

// An answer that a new snapshot overtook is not given: the question is asked again.
void DirectorShell::RunLookUps(std::vector<LookUpItem> items) {
  look_up_thread_.Post([this, items = std::move(items)]() mutable {
    const uint64_t number = world_.Get()->number;
    LookedUp answer = look_ups_.Run(items);
    Post(Internal([this, number, items = std::move(items), answer = std::move(answer)]() mutable {
      if (world_.Get()->number != number) return RunLookUps(std::move(items));
      TakeLookedUp(std::move(answer));
    }));
  });
}

void DirectorShell::TakeLookedUp(LookedUp answer) {
  for (const LookedUp::Item& item : answer.items) {
    const auto* hit = std::get_if<LookedUp::Hit>(&item.outcome);
    if (hit == nullptr) continue;
    if (const StoredResultPtr stored = results_.Get(hit->result->id);
        stored != nullptr && !stored->is_in_journal) {
      unjournaled_.insert(hit->result->id);
    }
  }
  StepCore(std::move(answer));
}

// `world_number`: the world in which the reports were judged. A later one judges again.
void DirectorShell::TakeReports(WorkerReported reported, uint64_t world_number) {
  NoteOver(reported);
  const WorldPtr world = world_.Get();
  for (WorkerReport& report : reported.reports) {
    auto* saved = std::get_if<WorkerReport::Saved>(&report.what);
    if (saved == nullptr) continue;
    const StoredResultPtr stored = results_.Get(saved->result->id);
    unjournaled_.insert(saved->result->id);
    if (world->number != world_number && stored != nullptr) {
      saved->is_current = saved->is_current && FilesStillHold(*world, tools_, stored->package,
                                                              stored->source, stored->observed);
    }
  }
  StepCore(std::move(reported));
}

void DirectorShell::AddBlob(const Digest& digest, v1::Job& job) {
  std::optional<store::BlobLocation> location = reports_.LocationOf(digest);
  if (!location) {
    const auto found = store_.Locate(std::span(&digest, 1));
    if (found.ok() && (*found)[0]) location = (*found)[0];
  }
  if (!location)
    return;  // the worker says that it cannot read it, and its producer is cooked again
  v1::BlobWritten* blob = job.add_blobs();
  blob->mutable_digest()->set_hash(digest.hex());
  blob->mutable_digest()->set_size_bytes(static_cast<int64_t>(digest.size_bytes()));
  blob->set_segment(location->segment);
  blob->set_offset(location->offset);
}

void DirectorShell::FillJob(WorkerId worker, const Desire::Start& start, v1::ToWorker& message) {
  const WorldPtr world = world_.Get();
  auto info = std::make_shared<AttemptInfo>();
  info->package = start.package;
  info->name = core_->NameOf(start.package);
  info->platforms = start.platforms;
  info->recipes = RecipesOf(start.package);
  info->cooked = CookedOf(start.cooked);
  v1::Job& job = *message.add_start();
  job.set_attempt(start.attempt);
  job.set_package(info->name);
  job.set_snapshot(world->number);
  job.set_expected_us(absl::ToInt64Microseconds(start.expected));
  job.set_urgency(static_cast<uint32_t>(start.urgency));
  if (const record::Generated* generated = core_->GeneratedOf(start.package)) {
    info->generated_source = generated->source;
    job.mutable_generated_source()->set_hash(generated->source.hex());
    job.mutable_generated_source()->set_size_bytes(
        static_cast<int64_t>(generated->source.size_bytes()));
    AddBlob(generated->source, job);
  }
  if (info->recipes != nullptr) {
    for (PlatformIndex platform = 0; platform < info->recipes->size(); ++platform) {
      if ((start.platforms & MaskOf(platform)) == 0) continue;
      const project::ResolvedRecipe& recipe = (*info->recipes)[platform];
      v1::Target* target = job.add_targets();
      target->set_platform(platform);
      target->set_recipe(record::EncodeRecipe(recipe.recipe));
      job.set_memory_bytes(recipe.needs.memory_bytes);
      job.set_timeout_us(absl::ToInt64Microseconds(recipe.needs.timeout));
    }
  }
  for (PlatformIndex platform = 0; platform < info->cooked.size(); ++platform) {
    for (const auto& [name, outputs] : info->cooked[platform]) {
      v1::CookedInput* input = job.add_cooked();
      input->set_package(name);
      input->set_platform(platform);
      for (const record::Output& output : outputs) {
        v1::CookedOutput* out = input->add_outputs();
        out->set_suffix(output.suffix);
        out->mutable_digest()->set_hash(output.digest.hex());
        out->mutable_digest()->set_size_bytes(static_cast<int64_t>(output.digest.size_bytes()));
        AddBlob(output.digest, job);
      }
    }
  }
  NoteGiven(worker, start, *info);
  reports_.Register(start.attempt, std::move(info));
}

void DirectorShell::Do(const Desire& effect) {
  v1::ToWorker message;
  for (const Desire::Start& start : effect.start) FillJob(effect.worker, start, message);
  for (const AttemptId attempt : effect.cancel) message.add_cancel(attempt);
  for (const AttemptId attempt : effect.retract) message.add_retract(attempt);
  for (const ReportId report : effect.persisted) message.add_persisted(report);
  message.set_drain(effect.drain);
  service_->Send(WorkerName(effect.worker), std::move(message));
}

void DirectorShell::Do(const Spawn& effect) {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 8; ++i) token += fmt::format("{:08x}", random());
  const std::string name = WorkerName(effect.worker);
  service_->Expect(name, token);
  LogInfo("worker={} starting delay={}", name, absl::FormatDuration(effect.delay));
  launcher_->Start({.worker_id = name,
                    .director_address = service_->address(),
                    .token = token,
                    .slots = options_.slots,
                    .delay = effect.delay,
                    .log_file = JoinPath(options_.state_directory, "logs/" + name + ".log"),
                    .record_folder = JoinPath(options_.state_directory, kWorkersFolder)});
}

void DirectorShell::Do(const Stop& effect) {
  launcher_->Stop(WorkerName(effect.worker), absl::ZeroDuration());
}

void DirectorShell::Do(const Persist& effect) {
  pending_commit_.insert(pending_commit_.end(), effect.items.begin(), effect.items.end());
  is_commit_urgent_ |= effect.is_urgent;
}

// One group at a time: what arrives while it runs, and shortly after it, is the next group.
void DirectorShell::StartCommit() {
  if (clock_.Monotonic() - progress_recorded_ >= kRecordInterval) RecordProgress();
  if (commits_running_ > 0 || clock_.Monotonic() < NextCommit()) return;
  CommitPending();
}

// Not synced: the next group's sync makes it durable. What is over goes behind the results that it
// brought.
void DirectorShell::RecordProgress() {
  JournalProgress progress{.blamed = std::exchange(pending_blame_, {})};
  for (auto& [attempt, given] : std::exchange(pending_given_, {}))
    progress.given.push_back(std::move(given));
  if (pending_commit_.empty()) progress.over = std::exchange(pending_over_, {});
  if (progress.empty()) return;
  progress_recorded_ = clock_.Monotonic();
  commit_thread_.Post([this, progress = std::move(progress)] {
    const absl::Status recorded = journal_.RecordProgress(progress);
    if (!recorded.ok()) LogWarning("journal: {}", MessageOf(recorded));
  });
}

void DirectorShell::CommitPending() {
  RecordProgress();
  if (pending_commit_.empty() && !failures_.has_news()) return;
  const absl::Time begun = clock_.Monotonic();
  pacing_.Begun(begun);
  is_commit_urgent_ = false;
  ++commits_running_;
  std::vector<FailureUpdate> failures = TakeFailures();
  commit_thread_.Post([this, begun, persist = Persist{std::exchange(pending_commit_, {})},
                       failures = std::move(failures),
                       cook = CookNumber{.cook = options_.core.term, .is_forced = request_.force}] {
    Committed committed = CommitNow(persist, failures, cook, begun);
    {
      base::MutexLock lock(mutex_);
      committed_.push_back(std::move(committed));
    }
    Post(Internal([this] { TakeCommitted(); }));
  });
}

// Commit thread.
DirectorShell::Committed DirectorShell::CommitNow(const Persist& persist,
                                                  const std::vector<FailureUpdate>& failures,
                                                  const CookNumber& cook, absl::Time begun) {
  const int64_t started = absl::ToUnixMicros(clock_.Now());
  CommitOutcome outcome = CommitGroup(
      store_, journal_, results_, persist, cook,
      [this](const StoredResult& stored) {
        return stored.holds_in == commit_world_->number ||
               FilesStillHold(*commit_world_, tools_, stored.package, stored.source,
                              stored.observed);
      },
      clock_.Now());
  if (const absl::Status recorded = journal_.RecordFailures(failures);
      !recorded.ok() && outcome.event.error.empty())
    outcome.event.error = fmt::format("writing failures to the journal: {}", MessageOf(recorded));
  trace_.Add({.name = fmt::format("commit of {}", persist.items.size()),
              .category = "commit",
              .worker = "director",
              .slot = 1,
              .started_us = started,
              .duration_us = absl::ToUnixMicros(clock_.Now()) - started});
  if (!outcome.event.error.empty()) {
    LogError("{}", outcome.event.error);
    commit_error_ = outcome.event.error;
  }
  for (const CommitOutcome::Alarm& alarm : outcome.alarms)
    LogWarning("package={} platform={} {}", alarm.package, alarm.platform, alarm.text);
  return {.outcome = std::move(outcome), .begun = begun};
}

// One, in order; false: there is none. What ended after the cook did is counted as well, and its
// failure is the cook's. (Behind a root that was published only late results and what they replace
// are left: all else was committed before it. They are worth a warning.)
bool DirectorShell::TakeCommitted() {
  Committed committed;
  {
    base::MutexLock lock(mutex_);
    if (committed_.empty()) return false;
    committed = std::move(committed_.front());
    committed_.pop_front();
  }
  CommitOutcome& outcome = committed.outcome;
  const absl::Time begun = committed.begun;
  --commits_running_;
  pacing_.Ended(begun, clock_.Monotonic());
  bytes_stored_ += outcome.bytes_stored;
  bytes_deduplicated_ += outcome.bytes_deduplicated;
  for (const CommitOutcome::Alarm& alarm : outcome.alarms)
    listener_.OnWarning(alarm.package, alarm.platform, alarm.text);
  for (const Persisted::Item& item : outcome.event.items) unjournaled_.erase(item.result);
  if (!ended_) {
    StepCore(std::move(outcome.event));
  } else if (!outcome.event.error.empty()) {
    const std::string text = "results could not be made durable: " + outcome.event.error;
    if (!roots_.empty()) {
      listener_.OnWarning("", "", text);
    } else if (ended_->infrastructure_error.empty()) {
      ended_->infrastructure_error = text;
    }
  }
  return true;
}

// Commit thread: in order with the commits, so that every record of the journal was made in the
// snapshot that is its base.
absl::StatusOr<DirectorShell::Successor> DirectorShell::MakeSuccessor(
    const std::vector<std::string>& paths) {
  const WorldPtr old = commit_world_;
  auto world = std::make_shared<World>(*old);
  world->number = old->number + 1;
  ASSIGN_OR_RETURN(std::unique_ptr<content::Snapshot> snapshot, old->snapshot->Refresh(paths));
  world->snapshot = std::move(snapshot);
  ASSIGN_OR_RETURN(world->table, ProjectCatalog::Build(world->snapshot, old->project,
                                                       old->table->resolver(), options_.table));
  world->table_file =
      fmt::format("{}.{}", old->table_file.substr(0, old->table_file.rfind(".table")),
                  world->number) +
      ".table";
  if (options_.may_write) RETURN_IF_ERROR(options_.may_write());
  RETURN_IF_ERROR(world->snapshot->WriteTable(world->table_file));
  std::vector<content::Change> changes;
  for (const std::string& path : paths) {
    changes.push_back({.path = path,
                       .was_there = old->snapshot->Find(path) != nullptr,
                       .is_there = world->snapshot->Find(path) != nullptr});
  }
  FilesChanged event;
  ASSIGN_OR_RETURN(event.packages, journal_.Affected(changes));
  JournalMeta meta = journal_.meta();
  meta.table_file = world->table_file.substr(world->table_file.rfind('/') + 1);
  RETURN_IF_ERROR(journal_.Invalidate(event.packages, meta));
  event.catalog = world->table;
  event.paths = paths;
  commit_world_ = world;
  return Successor{std::move(world), std::move(event)};
}

// Loop thread: from here on look-ups, reports and jobs are of the new snapshot.
void DirectorShell::TakeSuccessor(Successor successor) {
  const WorldPtr world = successor.world;
  world_.Set(world);
  for (const ResultId id : unjournaled_) {
    const StoredResultPtr stored = results_.Get(id);
    if (stored == nullptr ||
        FilesStillHold(*world, tools_, stored->package, stored->source, stored->observed))
      continue;
    successor.event.packages.push_back(stored->package);
  }
  std::vector<std::string>& packages = successor.event.packages;
  std::sort(packages.begin(), packages.end());
  packages.erase(std::unique(packages.begin(), packages.end()), packages.end());
  std::map<std::string, uint64_t> attached;
  {
    base::MutexLock lock(mutex_);
    attached = segment_used_;
  }
  v1::ToWorker message;
  message.mutable_snapshot()->set_number(world->number);
  message.mutable_snapshot()->set_table_file(world->table_file);
  for (const auto& [worker, segment] : attached) service_->Send(worker, message);
  StepCore(successor.event);
}

void DirectorShell::Do(const Rescan& effect) {
  commit_thread_.Post([this, paths = effect.paths] {
    auto successor = MakeSuccessor(paths);
    if (!successor.ok()) {
      Post(Event(Persisted{
          .error = fmt::format("taking a new snapshot: {}", MessageOf(successor.status()))}));
      return;
    }
    Post(Internal([this, successor = std::move(*successor)]() mutable {
      TakeSuccessor(std::move(successor));
    }));
  });
}

void DirectorShell::Do(const BuildRoot& effect) {
  last_build_[effect.platform] = effect;
  CommitPending();  // nobody waits for what look-ups found, but the journal learns it before the
                    // root
  commit_thread_.Post([this, effect] {
    auto built = BuildRootTree(*world_.Get()->project, results_, store_, effect);
    if (built.ok()) {
      Post(Event(std::move(*built)));
    } else {
      Post(Event(RootPublished{effect.platform,
                               fmt::format("building the tree: {}", MessageOf(built.status())),
                               effect.platform_set}));
    }
  });
}

RootContent DirectorShell::ContentOf(const PublishRoot& effect) const {
  RootContent content{.by_the_book = effect.by_the_book};
  for (const auto& [package, result] : last_build_.at(effect.platform).packages) {
    if (StoredResultPtr stored = results_.Get(result); stored != nullptr)
      content.results.push_back(std::move(stored));
  }
  if (!effect.by_the_book) content.failed = failures_.FailedFor(PlatformName(effect.platform));
  return content;
}

// Behind a group that failed no root is published: the cook is about to end for it.
void DirectorShell::Do(const PublishRoot& effect) {
  CommitPending();  // what failed while the roots were built
  commit_thread_.Post([this, effect, content = ContentOf(effect)] {
    RootPublished event{.platform = effect.platform};
    event.platform_set = effect.platform_set;
    event.error = commit_error_;
    if (event.error.empty()) {
      const std::string platform = PlatformName(effect.platform);
      const auto sequence = store_.Publish({.project_id = options_.project_id,
                                            .platform = platform,
                                            .root = effect.root,
                                            .by_the_book = effect.by_the_book,
                                            .time = clock_.Now()});
      if (!sequence.ok()) {
        event.error = fmt::format("publishing the root: {}", MessageOf(sequence.status()));
      } else if (const absl::Status recorded = RecordRoot(
                     journal_, platform, {.sequence = *sequence, .root = effect.root}, content);
                 !recorded.ok()) {
        LogWarning("journal: {}", MessageOf(recorded));  // the next director finds out
      }
    }
    Post(Internal([this, event, root = effect.root] {
      if (event.error.empty()) roots_[PlatformName(event.platform)] = root;
      StepCore(event);
    }));
  });
}

void DirectorShell::Do(const Notify& effect) {
  if (const auto* failed = std::get_if<PackageFailed>(&effect.notice)) {
    if (failed->package.valid()) NoteFailure(*failed);
    listener_.OnFailed(failed->package.valid() ? core_->NameOf(failed->package) : "",
                       failed->platform ? PlatformName(*failed->platform) : "", *failed);
  } else if (const auto* warned = std::get_if<PackageWarned>(&effect.notice)) {
    listener_.OnWarning(core_->NameOf(warned->package),
                        warned->platform ? PlatformName(*warned->platform) : "", warned->text);
  } else if (const auto* done = std::get_if<PackageDone>(&effect.notice)) {
    if (const StoredResultPtr stored = results_.Get(done->result)) {
      failures_.Done({stored->package, stored->platform_name}, stored->has_failed_before);
      listener_.OnDone(*stored, done->source);
    }
  } else if (const auto* blamed = std::get_if<PackageBlamed>(&effect.notice)) {
    pending_blame_.push_back({.package = core_->NameOf(blamed->package),
                              .own_faults = blamed->own_faults,
                              .what = blamed->what,
                              .error = blamed->error,
                              .log = blamed->log});
  } else if (const auto* ended = std::get_if<CookEnded>(&effect.notice)) {
    ended_ = *ended;
  }
}

void DirectorShell::NoteFailure(const PackageFailed& failed) {
  const FailureRecord record{.cook = options_.core.term,
                             .time = clock_.Now(),
                             .stage = std::string(StageName(failed.stage)),
                             .error = failed.error,
                             .log = failed.log,
                             .cause = std::string(FailureCauseName(failed.cause)),
                             .worker = failed.worker.valid() ? WorkerName(failed.worker) : "",
                             .attempt = failed.attempt,
                             .attempts = failed.attempts,
                             .own_faults = failed.own_faults,
                             .infrastructure_faults = failed.infrastructure_faults};
  for (PlatformIndex p = 0; p < options_.core.platform_count; ++p) {
    if (!failed.platform ? (request_.platforms & MaskOf(p)) == 0 : *failed.platform != p) continue;
    failures_.Failed({core_->NameOf(failed.package), PlatformName(p)}, record);
  }
}

// Of the group that is about to be committed.
std::vector<FailureUpdate> DirectorShell::TakeFailures() {
  std::vector<FailureNotes::Where> committed;
  if (!failures_.has_standing()) return failures_.Take(committed);
  for (const Persist::Item& item : pending_commit_) {
    if (const StoredResultPtr stored = results_.Get(item.result); stored != nullptr)
      committed.emplace_back(stored->package, stored->platform_name);
  }
  return failures_.Take(committed);
}

// After the cook: page by page, so that nothing holds them all.
absl::Status DirectorShell::RecordInstigators() {
  std::vector<bool> has_reason(core_->package_count());
  QueryAsked ask{.about = QueryAsked::About::kInstigators};
  // A package's reasons may be told over several pages: the last one waits for the next page.
  std::vector<std::pair<std::string, std::vector<InstigatorRecord>>> records;
  PackageId last;
  while (true) {
    reply_.reset();
    StepCore(ask);
    if (!reply_ || !reply_->error.empty())
      return absl::InternalError("the core did not say why packages are in the cook");
    for (const Reply::Reason& reason : reply_->reasons) {
      if (reason.package != last)
        records.emplace_back(core_->NameOf(reason.package), std::vector<InstigatorRecord>());
      last = reason.package;
      has_reason[last.index()] = true;
      records.back().second.push_back(
          {static_cast<uint8_t>(reason.why.category),
           reason.why.referencer.valid() ? core_->NameOf(reason.why.referencer) : ""});
    }
    const bool is_last = !reply_->next;
    const size_t whole = is_last || records.empty() ? records.size() : records.size() - 1;
    RETURN_IF_ERROR(journal_.RecordInstigators(std::span(records).first(whole)));
    records.erase(records.begin(), records.begin() + static_cast<ptrdiff_t>(whole));
    if (is_last) break;
    ask.cursor = *reply_->next;
  }
  const bool is_whole =
      !ended_->is_interrupted && !ended_->is_fail_fast && ended_->infrastructure_error.empty();
  return request_.by_the_book && is_whole && !journal_.WasEmpty() ? ForgetInstigators(has_reason)
                                                                  : absl::OkStatus();
}

// Packages that the last cook by the book held and this one does not are in no cook any more.
absl::Status DirectorShell::ForgetInstigators(const std::vector<bool>& has_reason) {
  std::vector<std::pair<std::string, std::vector<InstigatorRecord>>> gone;
  RETURN_IF_ERROR(journal_.ForEach([&](std::string_view name, const PackageRecord& record) {
    const PackageId id = core_->Find(name);
    if (record.instigators.empty() || (id.valid() && has_reason[id.index()])) return;
    gone.emplace_back(std::string(name), std::vector<InstigatorRecord>());
  }));
  return journal_.RecordInstigators(gone);
}

void DirectorShell::Do(const Reply& effect) { reply_ = effect; }

std::string DirectorShell::PlatformName(PlatformIndex platform) const {
  return world_.Get()->project->platforms[platform].name;
}

std::string DirectorShell::WorkerName(WorkerId worker) {
  return fmt::format("local-{}", worker.value() + 1);
}

WorkerId DirectorShell::WorkerOf(const std::string& name) {
  uint32_t number = 0;
  for (const char c : name.substr(std::min(name.size(), std::string("local-").size()))) {
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return WorkerId(number - 1);
}

}  // namespace galley::director
