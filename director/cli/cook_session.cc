#include "director/cli/cook_session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <set>
#include <thread>

#include "absl/time/clock.h"
#include "common/base/healed.h"
#include "common/base/hex.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/project/state_folder.h"
#include "director/cli/host_file.h"
#include "director/cli/package_place.h"
#include "director/host/difference.h"
#include "director/host/left_out.h"
#include "director/host/near_names.h"
#include "director/host/scanned_project.h"
#include "director/host/unpublished.h"
#include "director/host/unsent_results.h"
#include "director/shell/lost_files.h"
#include "director/shell/published_keys.h"
#include "director/shell/snapshot_tables.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

double Seconds(absl::Time from, absl::Time to) { return absl::ToDoubleSeconds(to - from); }

std::string RandomId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", random());
  return id;
}

// A worker leaves the owner's reserve of the disk free, whatever the size of what it writes. So
// where a job failed for the machine's sake and less than this is free beside the reserve, the disk
// is full.
constexpr uint64_t kRoomOfAJob = 64 << 20;

// Comparisons with names for a warning, which every cook repeats: a tenth of a second.
constexpr size_t kNearMax = 30'000;

// The director's own executables lie together.
std::string WorkerProgram() { return JoinPath(ProgramDirectory(), "galley-worker"); }

}  // namespace

std::optional<CookSession::Stop> CookSession::StopOf(const absl::Status& end) {
  if (end.ok()) return std::nullopt;
  if (absl::IsInvalidArgument(end)) return Stop{kUsage, MessageOf(end)};
  return Stop{absl::IsCancelled(end) ? kInterrupted : kInfrastructure, MessageOf(end)};
}

CookSession::CookSession(const CookCommandOptions& options, Report& report)
    : options_(options), report_(report), started_(absl::Now()) {
  if (options_.trace.empty()) trace_.TurnOff();
  interrupt_ = std::make_unique<InterruptWatch>([this] {
    stop_.Cancel();
    base::MutexLock lock(mutex_);
    if (shell_ != nullptr) shell_->Interrupt();
    if (flushing_ != nullptr) {
      flushing_->Cancel();
      stores_->remote()->Stop();
    }
  });
}

CookSession::~CookSession() = default;

int CookSession::Run() {
  using Step = std::optional<Stop> (CookSession::*)();
  for (const Step step :
       {&CookSession::LoadTheProject, &CookSession::TakeTheLock, &CookSession::OpenStores,
        &CookSession::TakeTheSnapshot, &CookSession::ApplyTheDifference, &CookSession::Cook}) {
    if (interrupt_->interrupted()) return Finish(Stop{kInterrupted, "interrupted"});
    if (const std::optional<Stop> stop = (this->*step)()) return Finish(stop);
  }
  WarnOfIdleNever();
  staging_->TellFailures();
  TellLost();
  TellUnpublished();
  FlushRemote();
  Remember();
  stores_->KeepWithinSize(stop_, report_);
  if (lock_->Check().ok()) stores_->GiveBackDeadBytes(stop_, report_);
  return Finish(StopOf(staging_->stopped()));
}

std::optional<CookSession::Stop> CookSession::LoadTheProject() {
  std::map<std::string, std::string> overrides;
  if (!options_.out.empty()) overrides["output.dir"] = AbsolutePath(options_.out);
  if (options_.workers) overrides["farm.workers"] = fmt::format("{}", *options_.workers);
  if (!options_.placement.empty()) overrides["farm.placement"] = options_.placement;
  if (options_.global.store.find("://") != std::string::npos) {
    return Stop{kUsage,
                fmt::format("--store {}: remote stores are not supported yet; give a directory",
                            options_.global.store)};
  }
  auto project = OpenProject(options_.global, overrides);
  if (!project.ok()) return Stop{kUsage, MessageOf(project.status())};
  if (!options_.launcher.empty() && options_.launcher != "local") {
    return Stop{kUsage, fmt::format("--launcher {}: not yet; use local", options_.launcher)};
  }
  if (options_.launcher.empty() && project->farm.launcher != "local") {
    return Stop{kUsage, fmt::format("[farm] launcher = \"{}\" is not supported yet; use \"local\"",
                                    project->farm.launcher)};
  }
  if (!options_.ask.selection.cultures.empty())
    project->cook.cultures = options_.ask.selection.cultures;
  project_ = std::make_shared<const project::Project>(std::move(*project));
  summary_.project = project_->name;
  std::optional<Stop> stop;
  platforms_ = PlatformsWanted(stop);
  for (const std::string& file : {options_.summary, options_.trace}) {
    if (file.empty() || stop) continue;
    const std::string path = AbsolutePath(file);
    const std::string folder = path.substr(0, std::max<size_t>(1, path.rfind('/')));
    if (::access(folder.c_str(), W_OK) != 0)
      stop =
          Stop{kUsage, fmt::format("{} cannot be written: {} is no folder that can be written to",
                                   file, folder)};
  }
  report_.platforms = director::PlatformNames(*project_, platforms_);
  return stop;
}

std::optional<CookSession::Stop> CookSession::CheckOutput(const std::string& project_id) const {
  if (!options_.ask.is_staged()) return std::nullopt;
  return StopOf(
      director::Sandboxes(*project_, RulesOfStage()).CheckAll(report_.platforms, project_id));
}

director::PlatformMask CookSession::PlatformsWanted(std::optional<Stop>& stop) const {
  director::PlatformMask mask = 0;
  if (options_.platforms.empty() || options_.all_platforms) {
    for (uint32_t i = 0; i < project_->platforms.size(); ++i) mask |= director::MaskOf(i);
    return mask;
  }
  for (const std::string& name : options_.platforms) {
    std::vector<std::string> known;
    bool found = false;
    for (uint32_t i = 0; i < project_->platforms.size(); ++i) {
      known.push_back(project_->platforms[i].name);
      if (known.back() != name) continue;
      mask |= director::MaskOf(i);
      found = true;
    }
    if (!found) {
      std::string list;
      for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
      stop = Stop{kUsage, fmt::format("--platform {}: galley.toml has no such platform (it has {})",
                                      name, list)};
    }
  }
  return mask;
}

std::optional<CookSession::Stop> CookSession::TakeTheLock() {
  const std::string state = project_->state_directory();
  absl::Status made = project::MakeStateFolder(project_->root);
  for (const char* folder : {"logs", "scratch", "workers"})
    if (made.ok()) made = MakeOwnFolder(JoinPath(state, folder));
  if (!made.ok()) {
    return Stop{
        kInfrastructure,
        fmt::format("{}; the project's folder must be writable for its state", MessageOf(made))};
  }
  if (std::optional<Stop> stop = CheckOutput(director::FindHome(state, project_->root).project_id))
    return stop;
  bool said = false;
  while (true) {
    auto lock = director::ProjectLock::TryAcquire(state);
    if (lock.ok()) {
      lock_ = std::move(*lock);
      home_ = director::FindHome(state, project_->root);
      if (!home_.copied_from.empty()) {
        if (std::optional<Stop> stop = CheckOutput("")) return stop;
        // The records of workers are the original project's.
        (void)RemoveAll(JoinPath(state, director::kWorkersFolder));
      }
      inherited_.survivors = director::FindInheritedWorkers(state);
      return std::nullopt;
    }
    if (!absl::IsAlreadyExists(lock.status()))
      return Stop{kInfrastructure, MessageOf(lock.status())};
    if (options_.standalone)
      return Stop{kUsage, fmt::format("--standalone: {}", MessageOf(lock.status()))};
    if (!said)
      report_.Say(
          fmt::format("waiting for another cook of this project: {}", MessageOf(lock.status())));
    said = true;
    if (interrupt_->interrupted()) return Stop{kInterrupted, "interrupted"};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::optional<CookSession::Stop> CookSession::OpenStores() {
  const std::string state = project_->state_directory();
  const std::string log = JoinPath(state, "logs/director.log");
  if (const absl::Status clear = ClearTheWay(log); !clear.ok())
    return Stop{kInfrastructure, MessageOf(clear)};
  InitLog("galley", options_.global.verbose ? LogLevel::kDebug : LogLevel::kInfo, log);
  auto cookers = director::DescribeCookers(WorkerProgram(), JoinPath(state, "cookers.json"),
                                           project_->cook.binary_identity);
  if (!cookers.ok()) return Stop{kInfrastructure, MessageOf(cookers.status())};
  cookers_ = std::move(*cookers);
  resolver_ = std::make_shared<const project::RecipeResolver>(*project_, cookers_.descriptions);
  const auto may_write = [lock = lock_.get()] { return lock->Check(); };
  auto stores = director::ProjectStores::Open(*project_, may_write, report_);
  if (!stores.ok()) return StopOf(stores.status());
  stores_ = *std::move(stores);
  if (stores_->remote() != nullptr) report_.remote_down = [this] { return stores_->RemoteDown(); };
  auto journal = director::Journal::Open(state);
  if (!journal.ok())
    return Stop{kInfrastructure, fmt::format("journal: {}", MessageOf(journal.status()))};
  journal_ = std::move(*journal);
  journal_->Fence(may_write);
  if (std::optional<Stop> stop = SettleTheHome()) return stop;
  if (project_->store.remote.is_written && stores_->remote() != nullptr) StartWriteBack();
  return std::nullopt;
}

// Sends the results first that an earlier cook was not able to send.
void CookSession::StartWriteBack() {
  write_back_ = std::make_unique<director::WriteBack>(
      director::WriteBack::Deps{.store = &stores_->store(),
                                .remote = stores_->remote(),
                                .known = stores_->known_of_remote(),
                                .trust_domain = project_->store.trust,
                                .settled =
                                    [this](const director::StoredResult& stored) {
                                      director::ForgetSent(*journal_, stored);
                                    }},
      director::WriteBackOptions());
  auto unsent = director::FindUnsent(*journal_, stores_->store());
  if (!unsent.ok()) {
    LogWarning("what was not sent to the remote store is not sent now: {}",
               MessageOf(unsent.status()));
    return;
  }
  for (director::StoredResultPtr& stored : *unsent) write_back_->Add(std::move(stored));
}

// The project's id, and that it is here.
std::optional<CookSession::Stop> CookSession::SettleTheHome() {
  if (home_.project_id.empty() && home_.copied_from.empty())
    home_.project_id = journal_->meta().project_id;  // an older Galley kept it there alone
  if (home_.project_id.empty()) home_.project_id = RandomId();
  const absl::Status written =
      director::WriteHome(project_->state_directory(), project_->root, home_.project_id);
  if (!written.ok()) return Stop{kInfrastructure, fmt::format("state: {}", MessageOf(written))};
  if (!home_.copied_from.empty()) {
    const std::string text = fmt::format(
        "this project is a copy of the one in {}, which is still there: it has a project id of its "
        "own from now on, and publishes its own roots",
        home_.copied_from);
    LogInfo("{}", text);
    report_.Warn(text);
  }
  return std::nullopt;
}

// After staging: nobody waits for it but whoever waits for the cook to end. What went wrong with
// the remote is a warning: the cook is right without it.
void CookSession::FlushRemote() {
  if (write_back_ != nullptr) {
    {
      base::MutexLock lock(mutex_);
      flushing_ = write_back_.get();
    }
    if (outcome_->ended.is_interrupted || !staging_->stopped().ok()) {
      write_back_->Cancel();
      stores_->remote()->Stop();
    }
    const director::WriteBackReport report = write_back_->Flush();
    {
      base::MutexLock lock(mutex_);
      flushing_ = nullptr;
    }
    if (report.failed + report.dropped > 0) {
      report_.Warn(fmt::format(
          "{} of {} results could not be sent to {}: {}{}", report.failed + report.dropped,
          report.sent + report.failed + report.dropped, stores_->remote()->State().url,
          report.reason.empty() ? "more were cooked than can wait" : report.reason,
          report.unsent.empty() || journal_->MadeAnew() ? "" : "; the next cook sends them"));
    }
  }
  stores_->LeaveRemote(report_);
}

std::optional<CookSession::Stop> CookSession::TakeTheSnapshot() {
  const absl::Time begin = absl::Now();
  content::ScanOptions scan = director::ScanOptionsOf(*project_);
  scan.digest_cache_file = JoinPath(project_->state_directory(), "digests");
  auto snapshot = content::Snapshot::Scan(scan);
  if (!snapshot.ok()) return Stop{kUsage, MessageOf(snapshot.status())};
  world_ = std::make_shared<director::World>();
  world_->snapshot = std::move(*snapshot);
  world_->project = project_;
  world_->environment = Environment();
  report_.choice_of = [this](const std::string& package) { return ChoiceOf(*project_, package); };
  report_.file_of_place = [this](const std::string& package, std::string_view name) {
    return FileOfPlace(*project_, package, name);
  };
  table_options_ = {.never = options_.ask.selection.never, .cultures = project_->cook.cultures};
  auto table =
      director::ProjectCatalog::Build(world_->snapshot, project_, resolver_, table_options_);
  if (!table.ok()) return Stop{kUsage, MessageOf(table.status())};
  world_->table = std::move(*table);
  if (const absl::Status recipes = director::CheckRecipes(*world_->table); !recipes.ok())
    return Stop{kUsage, MessageOf(recipes)};
  if (world_->table->names().empty()) {
    return Stop{kUsage, fmt::format("{}: the project holds no package: no file under its mounts "
                                    "matches a [[rule]] or has a sidecar",
                                    JoinPath(project_->root, project::kProjectFile))};
  }
  auto selection = options_.ask.repair
                       ? SelectLost()
                       : director::Select(options_.ask.selection, *project_, *world_->table);
  if (!selection.ok()) return Stop{kUsage, MessageOf(selection.status())};
  selection_ = std::move(*selection);
  if (options_.ask.exact && !selection_.by_the_book) {
    return Stop{kUsage,
                "--exact makes the sandboxes equal to whole trees: give it without a "
                "selection, --never, --culture and --no-soft-references"};
  }
  staging_.emplace(director::Staging::Options{.project_id = home_.project_id,
                                              .by_the_book = selection_.by_the_book,
                                              .rules = RulesOfStage()},
                   director::Staging::Deps{.project = *project_,
                                           .store = stores_->store(),
                                           .notes = notes_,
                                           .stop = stop_,
                                           .may_write = [this] { return lock_->Check(); }});
  for (const std::string& warning : selection_.warnings) report_.Warn(warning);
  ReportOddFiles();
  summary_.scan_s = Seconds(begin, absl::Now());
  trace_.Add({.name = "scan",
              .category = "scan",
              .worker = "director",
              .started_us = absl::ToUnixMicros(begin),
              .duration_us = static_cast<int64_t>(summary_.scan_s * 1e6)});
  report_.Scanned({.files = world_->snapshot->files().size(),
                   .packages = world_->table->names().size(),
                   .unmatched = director::UnmatchedFiles(*project_, *world_->table).size(),
                   .seconds = summary_.scan_s});
  for (const std::string& warning : director::StraySidecars(*world_->table)) report_.Warn(warning);
  for (const std::string& text : {director::SandboxesAmongContent(*world_->snapshot),
                                  director::IdleLabels(*project_, *world_->table)}) {
    if (!text.empty()) report_.Warn(text);
  }
  return std::nullopt;
}

// Selects the packages whose outputs the store lost and that are still in the project.
absl::StatusOr<director::CookSelection> CookSession::SelectLost() {
  ASSIGN_OR_RETURN(std::vector<std::string> lost,
                   director::PackagesThatLost(*journal_, stores_->store()));
  director::CookSelection selection;
  for (std::string& name : lost) {
    if (name.find("/_gen/") != std::string::npos || world_->table->Find(name))
      selection.packages.push_back(
          {std::move(name), director::InstigatorCategory::kCommandLinePackage});
  }
  std::sort(selection.packages.begin(), selection.packages.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return selection;
}

// Files that cannot be used and are no packages: a folder that cannot be read hides packages, so it
// fails; the rest is worth a warning.
void CookSession::ReportOddFiles() {
  for (const content::FileEntry& file : world_->snapshot->files()) {
    if (file.error.empty() || world_->table->Find(file.path)) continue;
    if (S_ISDIR(file.stat.mode)) {
      notes_.OnFailed(file.path, "", {.stage = director::Stage::kRequest, .error = file.error});
    } else {
      notes_.OnWarning(file.path, "", file.error);
    }
  }
}

std::optional<CookSession::Stop> CookSession::ApplyTheDifference() {
  const std::string state = project_->state_directory();
  // A term that the journal never learned of may have left its table, and a power cut can bring
  // that back in the place of another of its name.
  const uint32_t term = director::NextTerm(state, journal_->meta().term);
  const absl::Status applied = director::ApplyDifference({.state_directory = state,
                                                          .project_id = home_.project_id,
                                                          .trust_domain = project_->store.trust,
                                                          .term = term},
                                                         stores_->store(), *journal_, *world_);
  if (!applied.ok()) return StopOf(applied);
  if (inherited_.survivors.empty())  // they read the tables of their jobs
    director::RemoveOldTables(state, journal_->meta().table_file);
  if (const absl::Status taken = TakeOver(term); !taken.ok())
    return Stop{kInfrastructure, fmt::format("journal: {}", MessageOf(taken))};
  return std::nullopt;
}

// Takes over the jobs and the blame of a director that died, if the last one did.
absl::Status CookSession::TakeOver(uint32_t term) {
  RETURN_IF_ERROR(lock_->SetTerm(term));
  ASSIGN_OR_RETURN(inherited_,
                   director::TakeOver(std::move(inherited_.survivors), term, *journal_));
  std::vector<std::string> platforms;
  for (const auto& platform : project_->platforms) platforms.push_back(platform.name);
  return director::ForgetOvertakenKeys(stores_->store(), *journal_, platforms);
}

std::optional<CookSession::Stop> CookSession::Cook() {
  const std::string state = project_->state_directory();
  const absl::Time begin = absl::Now();
  uint32_t workers = project_->farm.workers;
  if (workers == 0) workers = std::max(1u, std::thread::hardware_concurrency());
  director::ShellOptions options{
      .state_directory = state,
      .socket_path = JoinPath(project_->root, ".galley/director.sock"),
      .worker_program = WorkerProgram(),
      .cookers_json = cookers_.json,
      .table = table_options_,
      .worker_build = cookers_.build,
      .slots = project_->farm.slots,
      .project_id = home_.project_id,
      .keep_roots = project_->store.keep_roots,
      .publishes = !options_.ask.repair,
      .may_write = [this] { return lock_->Check(); },
      .stage = [this](const auto& roots,
                      const auto& world) { return staging_->StageAll(roots, world); },
      .has_room = [this] { return stores_->CheckSpace(kRoomOfAJob); },
      .survivors = inherited_.survivors,
      .given_before = inherited_.progress.given,
      .remote = stores_->remote(),
      .write_back = write_back_.get()};
  options.core.platform_count = static_cast<uint32_t>(project_->platforms.size());
  options.core.workers = workers;
  if (project_->farm.placement == "striped")
    options.core.policy = director::PlacementPolicy::kStriped;
  options.core.term = journal_->meta().term;
  options.core.resources.assign(project_->resources.begin(), project_->resources.end());
  options.look_up = {.trust_domain = project_->store.trust,
                     .read_trust = project_->store.read_trust,
                     .retry_failed = options_.ask.retry_failed};
  director::DirectorShell shell(std::move(options), world_, stores_->store(), *journal_, trace_,
                                notes_);
  {
    base::MutexLock lock(mutex_);
    shell_ = &shell;
  }
  std::vector<director::CookRequested::Blamed> blamed;
  for (const director::BlameRecord& one : inherited_.progress.blamed)
    blamed.push_back({one.package, one.own_faults, one.what, one.error, one.log});
  if (interrupt_->interrupted()) shell.Interrupt();
  auto outcome = shell.Run({.request = 1,
                            .platforms = platforms_,
                            .selected = selection_.packages,
                            .by_the_book = selection_.by_the_book,
                            .force = options_.ask.force,
                            .fail_fast = options_.ask.fail_fast,
                            .follow_soft = !options_.ask.selection.no_soft_references,
                            .is_staged = options_.ask.is_staged(),
                            .blamed = std::move(blamed)});
  {
    base::MutexLock lock(mutex_);
    shell_ = nullptr;
  }
  const absl::Time end = absl::Now();
  // Staging is a part of the run, and most of the time its end.
  summary_.stage_s = absl::ToDoubleSeconds(staging_->time());
  const absl::Time staged_from = end - staging_->time();
  const absl::Time first = std::clamp(notes_.first_cooked(), begin, std::max(begin, staged_from));
  summary_.explore_s = Seconds(begin, first);
  summary_.cook_s = std::max(0.0, Seconds(first, staged_from));
  if (!outcome.ok()) return Stop{kInfrastructure, MessageOf(outcome.status())};
  outcome_ = std::move(*outcome);
  // The cook ended by itself: the next one blames packages anew.
  if (const absl::Status forgotten = journal_->ForgetProgress(); !forgotten.ok())
    LogWarning("journal: {}", MessageOf(forgotten));
  return std::nullopt;
}

void CookSession::TellLost() {
  const uint64_t blobs = outcome_->lost_blobs, packages = outcome_->lost_packages;
  if (blobs == 0) return;
  const director::CookEnded& ended = outcome_->ended;
  const bool is_complete = !ended.is_interrupted && ended.infrastructure_error.empty();
  const std::string_view became = !is_complete ? "; the next cook makes again what it needs"
                                  : blobs == 1 ? " and is made again"
                                               : " and are made again";
  NoteHealed(fmt::format("{}: {} of {} {} lost from the store{}", project_->store.directory,
                         blobs == 1 ? "1 blob" : fmt::format("{} blobs", blobs),
                         packages == 1 ? "1 package" : fmt::format("{} packages", packages),
                         blobs == 1 ? "was" : "were", became));
}

void CookSession::TellUnpublished() {
  const director::CookEnded& ended = outcome_->ended;
  if (!selection_.by_the_book || options_.ask.repair || ended.is_interrupted ||
      ended.is_fail_fast || !ended.infrastructure_error.empty())
    return;
  for (const std::string& platform : report_.platforms) {
    if (outcome_->roots.contains(platform)) continue;
    const auto last = journal_->LastPublished(platform);
    notes_.OnWarning(
        "", platform,
        director::UnpublishedText(notes_.CountFailedOn(platform), outcome_->counters.in_cook,
                                  last.ok() && last->sequence != 0));
  }
}

// Patterns of `never` that name nothing, now that the generated packages of this cook are known.
void CookSession::WarnOfIdleNever() {
  if (options_.ask.repair || outcome_->ended.is_interrupted) return;
  const auto named_before = world_->table->NeverThatNamesNothing();
  for (const project::Pattern& never : outcome_->world->table->NeverThatNamesNothing()) {
    const bool is_of_both =
        std::any_of(named_before.begin(), named_before.end(),
                    [&](const project::Pattern& other) { return other.text == never.text; });
    const bool is_argument = never.place == "--never";
    // The pattern may be about generated packages that this cook did not ask for.
    const bool is_unknown = options_.ask.selection.has_selection() &&
                            (!is_argument || never.text.find("_gen") != std::string::npos);
    if (!is_of_both || is_unknown) continue;
    report_.Warn(fmt::format(
        "{}: nothing matches \"{}\"{}", is_argument ? never.place : never.place + ": [cook] never",
        never.text,
        director::NearText(director::NearNames(never.text, world_->table->names(), kNearMax))));
  }
}

// Saves what the next cook starts from: snapshot table, digest cache and the journal's meta.
void CookSession::Remember() {
  if (!lock_->Check().ok()) return;  // it starts from what another cook leaves
  const auto& snapshot = outcome_->world->snapshot;
  director::JournalMeta meta = journal_->meta();
  const auto info = stores_->store().Info();
  if (info.ok()) meta.store_commits = info->commits;
  for (const absl::Status& status :
       {snapshot->WriteTable(outcome_->world->table_file, outcome_->world->table_id),
        snapshot->SaveDigestCache(), outcome_->remembered, info.status(),
        journal_->SetMeta(meta)}) {
    if (!status.ok())
      report_.Warn(
          fmt::format("the next cook will look at more than it must: {}", MessageOf(status)));
  }
}

// For people; a store that does not answer has told so elsewhere.
void CookSession::NumberRoots() {
  const auto published = stores_->store().Roots(journal_->meta().project_id);
  if (!published.ok()) return;
  for (const store::PublishedRoot& one : *published) {  // newest first
    const auto root = outcome_->roots.find(one.platform);
    if (root != outcome_->roots.end() && root->second == one.root)
      summary_.sequences.emplace(one.platform, one.sequence);
  }
}

int CookSession::Finish(const std::optional<Stop>& stop) {
  for (const std::string& text : TakeHealed()) report_.Warn(text);
  report_.TellMessages();
  int code = kDone;
  if (!report_.failures.empty()) code = kFailed;
  if (staging_.has_value() && staging_->has_failed()) code = kInfrastructure;
  if (stop) {
    code = stop->code;
    Fail(options_.global, stop->code, stop->text);
    if (stop->code == kUsage) return code;
  }
  if (outcome_) {
    summary_.counters = outcome_->counters;
    summary_.bytes_stored = outcome_->bytes_stored;
    summary_.bytes_deduplicated = outcome_->bytes_deduplicated;
    summary_.bytes_fetched = stores_->BytesFetched();
    summary_.collections = outcome_->collections;
    for (const auto& [platform, root] : outcome_->roots) summary_.roots[platform] = root.ToString();
    NumberRoots();
    if (!outcome_->ended.infrastructure_error.empty()) {
      code = kInfrastructure;
      Fail(options_.global, kInfrastructure, outcome_->ended.infrastructure_error);
    }
    if (outcome_->ended.is_interrupted) code = kInterrupted;
    summary_.is_fail_fast = outcome_->ended.is_fail_fast;
    summary_.is_interrupted = outcome_->ended.is_interrupted;
  }
  const bool is_published = staging_.has_value() && staging_->is_published();
  if (interrupt_->interrupted() && !is_published) code = kInterrupted;
  summary_.exit_code = code;
  summary_.snapshot = notes_.DigestOfDone().ToString();
  summary_.warnings = report_.warnings;
  summary_.failures = report_.failures;
  std::sort(summary_.warnings.begin(), summary_.warnings.end());
  std::sort(summary_.failures.begin(), summary_.failures.end());
  summary_.total_s = Seconds(started_, absl::Now());
  if (!options_.summary.empty()) {
    const absl::Status written = WriteFileAtomic(AbsolutePath(options_.summary), summary_.ToText());
    if (!written.ok())
      code =
          Fail(options_.global, kInfrastructure, fmt::format("--summary: {}", MessageOf(written)));
  }
  if (!options_.trace.empty()) {
    const absl::Status written = WriteFileAtomic(AbsolutePath(options_.trace), trace_.ToJson());
    if (!written.ok())
      code = Fail(options_.global, kInfrastructure, fmt::format("--trace: {}", MessageOf(written)));
  }
  report_.Finish(summary_, outcome_.has_value());
  return code;
}

}  // namespace galley::cli
