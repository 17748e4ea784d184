#include "director/host/director.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "director/host/outcome_status.h"
#include "director/host/unsent_results.h"
#include "director/shell/published_keys.h"
#include "director/shell/snapshot_tables.h"
#include "fmt/format.h"

namespace galley::director {

std::string SocketOf(const project::Project& project) {
  return JoinPath(project.root, ".galley/director.sock");
}

Director::Director(DirectorOptions options, std::unique_ptr<HeldProject> held)
    : options_(std::move(options)), held_(std::move(held)) {
  survivors_ = FindInheritedWorkers(project().state_directory());
}

absl::StatusOr<std::unique_ptr<Director>> Director::Open(DirectorOptions options,
                                                         CookEventSink& sink, Cancellation& stop) {
  ASSIGN_OR_RETURN(std::unique_ptr<HeldProject> held,
                   HeldProject::Take(*options.project, options.hold, sink, stop));
  auto director = std::unique_ptr<Director>(new Director(std::move(options), std::move(held)));
  if (stop.is_cancelled()) return Interrupted();
  RETURN_IF_ERROR(director->OpenAll(sink));
  return director;
}

absl::Status Director::OpenAll(CookEventSink& sink) {
  const std::string state = project().state_directory();
  RETURN_IF_ERROR(OpenLog(state));
  RETURN_IF_ERROR(TakeUp(options_.project).status());
  const auto may_write = [held = held_.get()] { return held->MayWrite(); };
  ASSIGN_OR_RETURN(stores_, ProjectStores::Open(project(), may_write, sink));
  if (const auto info = stores_->store().Info(); info.ok()) {
    base::MutexLock lock(mutex_);
    store_seen_ = *info;
  }
  auto journal = Journal::Open(state);
  if (!journal.ok()) return Infrastructure("journal", journal.status());
  journal_ = *std::move(journal);
  journal_->Fence(may_write);
  RETURN_IF_ERROR(held_->Settle(*journal_, sink));
  if (project().store.remote.is_written && stores_->remote() != nullptr) StartWriteBack();
  if (project().store.keep_sources) KeepSources();
  remaker_ = std::make_unique<Remaker>(
      stores_->store(), [this](std::string_view cooker) { return IdentityOf(cooker); },
      Remaker::Options{.worker_program = options_.worker_program,
                       .scratch_directory = JoinPath(state, "remake")});
  // A term that the journal never learned of may have left its table, and a power cut can bring
  // that table back under the name of another.
  term_ = NextTerm(state, journal_->meta().term);
  return absl::OkStatus();
}

absl::Status Director::OpenLog(const std::string& state) const {
  const std::string log = JoinPath(state, "logs/director.log");
  if (const absl::Status clear = EnsureWritableFile(log); !clear.ok()) return Infrastructure(clear);
  const LogLevel level = options_.is_verbose ? LogLevel::kDebug : LogLevel::kInfo;
  if (options_.is_resident) {
    InitLog("galley", level, log, LogRotation());
  } else {
    InitLog("galley", level, log);
  }
  return absl::OkStatus();
}

SetupPtr Director::setup() const {
  base::MutexLock lock(mutex_);
  return setup_;
}

absl::StatusOr<SetupPtr> Director::MakeSetup(
    std::shared_ptr<const project::Project> project) const {
  auto cookers =
      DescribeCookers(options_.worker_program, JoinPath(project->state_directory(), "cookers.json"),
                      project->cook.binary_identity);
  if (!cookers.ok()) return Infrastructure(cookers.status());
  auto setup = std::make_shared<Setup>();
  setup->resolver =
      std::make_shared<const project::RecipeResolver>(*project, cookers->descriptions);
  setup->project = std::move(project);
  setup->cookers = *std::move(cookers);
  return setup;
}

absl::StatusOr<SetupPtr> Director::TakeUp(std::shared_ptr<const project::Project> project) {
  // Cookers are described, and the descriptions are written down.
  base::MutexLock one_by_one(taking_up_);
  ASSIGN_OR_RETURN(SetupPtr setup, MakeSetup(std::move(project)));
  base::MutexLock lock(mutex_);
  const bool is_same = setup_ != nullptr && setup_->project == setup->project &&
                       setup_->cookers.json == setup->cookers.json &&
                       setup_->cookers.build == setup->cookers.build;
  if (!is_same) setup_ = std::move(setup);
  return setup_;
}

// First sends the results that an earlier cook was not able to send.
void Director::StartWriteBack() {
  write_back_ = std::make_unique<WriteBack>(
      WriteBack::Deps{
          .store = &stores_->store(),
          .remote = stores_->remote(),
          .known = stores_->known_of_remote(),
          .trust_domain = project().store.trust,
          .settled = [this](const StoredResult& stored) { ForgetSent(*journal_, stored); }},
      WriteBackOptions());
  auto unsent = FindUnsent(*journal_, stores_->store());
  if (!unsent.ok()) {
    LogWarning("what was not sent to the remote store is not sent now: {}",
               MessageOf(unsent.status()));
    return;
  }
  for (StoredResultPtr& stored : *unsent) write_back_->Add(std::move(stored));
}

void Director::KeepSources() {
  std::vector<std::string> domains = {project().store.trust};
  const std::vector<std::string>& others = project().store.read_trust;
  domains.insert(domains.end(), others.begin(), others.end());
  kept_sources_ = std::make_unique<KeptSources>(
      stores_->store(), KeptSources::Options{.trust_domains = std::move(domains)});
}

std::string Director::IdentityOf(std::string_view cooker) const {
  const SetupPtr present = setup();
  const auto& cookers = present->cookers.descriptions;
  const auto found = std::ranges::find(cookers, cooker, &record::CookerDescription::name);
  return found == cookers.end() ? "" : found->identity;
}

void Director::BeginTerm() {
  staged_worlds_.Clear();
  if (std::exchange(has_term_begun_, true))
    term_ = NextTerm(project().state_directory(), std::max(term_, journal_->meta().term));
}

absl::StatusOr<Inheritance> Director::TakeOver() {
  if (survivors_.empty())  // survivors read the tables of their jobs
    RemoveOldTables(project().state_directory(), journal_->meta().table_file);
  if (const absl::Status set = held_->SetTerm(term_); !set.ok())
    return Infrastructure("journal", set);
  if (std::exchange(has_taken_over_, true)) return Inheritance();
  auto left = director::TakeOver(std::exchange(survivors_, {}), term_, *journal_);
  if (!left.ok()) return Infrastructure("journal", left.status());
  RETURN_IF_ERROR(ForgetOvertaken());
  return left;
}

absl::Status Director::ForgetOvertaken() {
  std::vector<std::string> platforms;
  for (const project::Platform& platform : setup()->project->platforms)
    platforms.push_back(platform.name);
  const absl::Status forgotten = ForgetOvertakenKeys(stores_->store(), *journal_, platforms);
  return forgotten.ok() ? forgotten : Infrastructure("journal", forgotten);
}

absl::StatusOr<bool> Director::IsStoreAnother() const {
  store::StoreInfo seen;
  {
    base::MutexLock lock(mutex_);
    seen = store_seen_;
  }
  if (!stores_->CheckFolder().ok()) return true;
  ASSIGN_OR_RETURN(store::StoreInfo now, stores_->store().Info());
  const bool is_first = seen.store_id.empty();
  if (!is_first && (now.store_id != seen.store_id || now.commits < seen.commits)) return true;
  base::MutexLock lock(mutex_);
  if (is_first || now.commits > store_seen_.commits) store_seen_ = std::move(now);
  return false;
}

absl::Status Director::TakeUpStore() {
  if (const absl::Status opened = stores_->OpenWhatIsThere(); !opened.ok())
    return Infrastructure("store", opened);
  const auto info = stores_->store().Info();
  if (!info.ok()) return Infrastructure("store", info.status());
  std::string_view what;
  {
    base::MutexLock lock(mutex_);
    what = info->store_id != store_seen_.store_id ? "another one"
           : info->commits < store_seen_.commits  ? "an older one"
                                                  : "the same one, which was damaged";
    store_seen_ = *info;
  }
  RETURN_IF_ERROR(ForgetOvertaken());
  NoteRepair(
      fmt::format("{}: the store that the director used was deleted or replaced, or files in it "
                  "were, which was "
                  "found at {}; it uses what is there now, {}, and what that lacks is cooked again",
                  project().store.directory,
                  absl::FormatTime("%H:%M:%E3S", absl::Now(), absl::LocalTimeZone()), what));
  return absl::OkStatus();
}

void Director::Settle(const CookReport& last, CookEventSink& sink, Cancellation& stop) {
  base::MutexLock lock(settling_);
  if (write_back_ != nullptr) FlushWriteBack(last.is_cut_short(), sink, stop);
  stores_->TellRemote(sink);
  TellUnkept(sink);
}

void Director::TellUnkept(CookEventSink& sink) {
  if (kept_sources_ == nullptr) return;
  const std::optional<KeptSources::Trouble> trouble = kept_sources_->TakeTrouble();
  if (!trouble.has_value()) return;
  sink.Warn(record::WarningKind::kStore,
            fmt::format("{} could not be kept in the store, so what was cooked from them cannot "
                        "be made again once they change: {}",
                        Counted(trouble->files, "source"), trouble->reason));
}

void Director::Close(CookEventSink& sink, Cancellation& stop) {
  // A resident director that is stopped does not wait for files that are put in the background: the
  // next director puts them when it is idle. Inputs of results were put with their records.
  if (kept_sources_ != nullptr && is_resident()) kept_sources_->End();
  if (kept_sources_ != nullptr) kept_sources_->AwaitIdle(stop);
  TellUnkept(sink);
  kept_sources_.reset();
  stores_->LeaveRemote();
  stores_->KeepWithinSize(stop, sink);
  if (!MayWrite().ok()) return;
  EndInheritedWorkers(project().state_directory(), std::exchange(survivors_, {}));
  stores_->GiveBackDeadBytes(stop, sink);
}

// Called after staging: only whoever waits for the director to end waits for the flush.
void Director::FlushWriteBack(bool is_cut_short, CookEventSink& sink, Cancellation& stop) {
  const auto give_up = [this] {
    write_back_->Cancel();
    stores_->remote()->Stop();
  };
  // An interrupt that came while the sandboxes were staged was too late, and does not count here.
  std::optional<Cancellation::Hook> on_stop;
  if (options_.is_resident) {
    if (is_cut_short) return;  // the rest is sent while nobody waits
  } else {
    if (!stop.is_cancelled()) on_stop.emplace(&stop, give_up);
    if (is_cut_short) give_up();
  }
  WriteBackReport report = write_back_->Flush();
  on_stop.reset();
  const WriteBackReport before = std::exchange(told_, report);
  report.sent -= before.sent;
  report.failed -= before.failed;
  report.dropped -= before.dropped;
  if (report.failed + report.dropped == 0) return;
  sink.Warn(record::WarningKind::kRemoteStore,
            fmt::format(
                "{} of {} could not be sent to {}: {}{}", report.failed + report.dropped,
                Counted(report.sent + report.failed + report.dropped, "result"),
                stores_->remote()->State().url,
                report.reason.empty() ? "more were cooked than can wait" : report.reason,
                report.unsent.empty() || journal_->MadeAnew() ? "" : "; the next cook sends them"));
}

}  // namespace galley::director
