// DirectorShell's cooks: how one begins, what it is told, how it ends.

#include <bit>
#include <future>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "director/shell/snapshot_tables.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// So long a worker may take to open the table that it was told of: one that is silent for longer
// is lost (CookOptions::silence_max).
constexpr absl::Duration kTableMax = absl::Minutes(2);

}  // namespace

absl::StatusOr<ShellOutcome> DirectorShell::Cook(CookOrder order, ShellListener& listener,
                                                 Cancellation& stop) {
  const auto seat = std::make_shared<CookSeat>(std::move(order));
  Post(Internal([this, seat] { Begin(seat); }));
  // (Behind Begin in the inbox: a cook is never cancelled before it is known.)
  const Cancellation::Hook on_stop(&stop, [this, number = seat->number()] {
    Post(Internal([this, number] { Cancel(number); }));
  });
  return seat->told.Hear(listener);
}

void DirectorShell::Cancel(uint64_t cook) {
  const CookSeat* const seat = seats_.Find(cook);
  if (seat != nullptr && !seat->ended) StepCore(CancelRequested{cook});
}

void DirectorShell::Begin(const std::shared_ptr<CookSeat>& seat) {
  seat->began = clock_.Now();
  seats_.Add(seat);
  seats_.NoteCompany();
  RetryWhatCooksAsk();
  if (seat->order.retry_failed) {
    results_.ForgetVerdicts();
    limits_.kept().NoneIsNew();
  }
  TellHeld(*seat);
  StepCore(RequestOf(*seat));
  if (!seat->refusal.empty()) CancelRefused();
  fence_checked_ = absl::InfinitePast();  // what was seen between two cooks ended none
  CheckFence();
}

// Since the cook was prepared another one may have brought other files, or another galley.toml.
CookRequested DirectorShell::RequestOf(CookSeat& seat) {
  const WorldPtr world = world_.Get();
  CookRequested request = seat.order.request;
  const bool is_other = seat.order.world != nullptr && seat.order.world != world;
  if (is_other && seat.order.select) {
    // (Where nothing can be selected any more, what was selected fails by name.)
    auto selected = seat.order.select(*world);
    if (!selected.empty()) request.selected = std::move(selected);
  }
  seat.platforms = PlatformsIn(seat, *world, request.platforms);
  request.platforms = seat.platforms;
  if (seat.refusal.empty()) TellPlatforms(seat);
  return request;
}

// The platforms of the cook in `world`; `otherwise`: where it has no opinion. A cook whose
// platforms are not there is refused.
PlatformMask DirectorShell::PlatformsIn(CookSeat& seat, const World& world,
                                        PlatformMask otherwise) {
  if (!seat.order.platforms) return otherwise;
  const absl::StatusOr<PlatformMask> platforms = seat.order.platforms(world);
  if (platforms.ok()) return *platforms;
  if (seat.refusal.empty()) seat.refusal = MessageOf(platforms.status());
  return otherwise != 0 ? otherwise : 1;  // until it is cancelled, which is the next step
}

void DirectorShell::CancelRefused() {
  std::vector<uint64_t> refused;
  seats_.ForEach([&](const CookSeat& seat) {
    if (!seat.refusal.empty()) refused.push_back(seat.number());
  });
  for (const uint64_t cook : refused) Cancel(cook);
}

void DirectorShell::TellPlatforms(CookSeat& seat) const {
  std::vector<std::string> names;
  for (PlatformMask left = seat.platforms; left != 0; left &= left - 1)
    names.push_back(PlatformName(static_cast<PlatformIndex>(std::countr_zero(left))));
  seat.told.Add([names = std::move(names)](ShellListener& one) { one.OnPlatforms(names); });
}

// While one cook tries again what is known to have failed, none takes such an answer.
void DirectorShell::RetryWhatCooksAsk() {
  look_ups_.RetryFailed(seats_.IsAnyRetrying());
  limits_.RetryFailed(seats_.IsAnyRetrying());
}

void DirectorShell::TellProgress() {
  const WorkersOnTheWay on_the_way = launches_->OnTheWay();
  seats_.ForEach([&](CookSeat& seat) {
    if (!seat.slot || seat.ended) return;
    Progress progress = core_->progress(seat.number());
    progress.on_the_way = on_the_way;
    seat.told.SetProgress(core_->counters(seat.number()), progress);
  });
}

void DirectorShell::Do(const Notify& effect) {
  std::visit([&](const auto& notice) { Tell(effect.cooks, notice); }, effect.notice);
}

void DirectorShell::Tell(CookMask cooks, const PackageFailed& notice) {
  PackageFailed told = notice;
  if (notice.cause == FailureCause::kLimit) told.error += limits_.Keep(notice);
  const ToldInOrder::Tell tell =
      [package = notice.package.valid() ? core_->NameOf(notice.package) : "",
       platform = notice.platform ? PlatformName(*notice.platform) : "",
       told](ShellListener& one) { one.OnFailed(package, platform, told); };
  seats_.ForEachOf(cooks, [&](CookSeat& seat) {
    if (notice.package.valid()) NoteFailure(seat, told);
    seat.told.Add(tell);
    if (notice.verdict.valid()) LookAtResult(seat, results_.Get(notice.verdict));
  });
}

void DirectorShell::Tell(CookMask cooks, const PackageWarned& notice) {
  const ToldInOrder::Tell tell = [package = core_->NameOf(notice.package),
                                  platform = notice.platform ? PlatformName(*notice.platform) : "",
                                  warning = record::Warning{notice.kind, notice.text},
                                  is_passing = notice.is_passing](ShellListener& one) {
    is_passing ? one.OnPassingWarning(package, platform, warning)
               : one.OnWarning(package, platform, warning);
  };
  seats_.ForEachOf(cooks, [&](CookSeat& seat) { seat.told.Add(tell); });
}

void DirectorShell::Tell(CookMask cooks, const PackageDone& notice) {
  const StoredResultPtr stored = results_.Get(notice.result);
  if (stored == nullptr) return;
  seats_.ForEachOf(cooks, [&](CookSeat& seat) {
    seat.failures.Done({stored->package, stored->platform_name}, stored->has_failed_before);
    LookAtResult(seat, stored);
    seat.told.Add(
        [stored, source = notice.source](ShellListener& one) { one.OnDone(*stored, source); });
  });
}

void DirectorShell::Tell(CookMask cooks, const PackageLeft& notice) {
  const std::string& package = core_->NameOf(notice.package);
  seats_.ForEachOf(cooks, [&](CookSeat& seat) {
    seat.failures.Left(package);
    seat.told.Add([package](ShellListener& one) { one.OnLeft(package); });
  });
}

void DirectorShell::Tell(CookMask, const PackageBlamed& notice) {
  commits_.notes().NoteBlame(core_->NameOf(notice.package), notice);
}

// Told to the cooks that run, shown, and kept for the directors to come.
void DirectorShell::Tell(CookMask cooks, const WorkerQuarantined& notice) {
  const std::string name = workers_.NameOf(notice.worker);
  const std::string machine = worker_views_.MachineOf(name);
  const std::string why =
      fmt::format("it made something else of {} for {} than {}", core_->NameOf(notice.package),
                  PlatformName(notice.platform), notice.others);
  admission_.Quarantine({.worker = name, .machine = machine, .why = why, .since = clock_.Now()});
  std::set<std::string> unproven;
  for (const PackageId package : notice.unproven) unproven.insert(core_->NameOf(package));
  const std::string text = QuarantineText(
      {.worker = name, .machine = machine, .why = why, .since = began_at_, .unproven = unproven});
  LogError("worker={} machine={} quarantined: {}", name, machine, why);
  seats_.ForEachOf(cooks, [&](CookSeat& seat) {
    seat.told.Add([text](ShellListener& one) {
      one.OnPassingWarning("", "", {record::WarningKind::kWorkerQuarantined, text});
    });
  });
}

// Told to each cook once, in the log, and shown as long as it is so.
void DirectorShell::Tell(CookMask cooks, const WorkerHeld& notice) {
  const bool is_machine = !notice.worker.valid();
  const std::string name = is_machine ? "" : workers_.NameOf(notice.worker);
  const std::string who = is_machine ? fmt::format("all workers of {}", notice.machine)
                                     : HeldWorkerText(name, worker_views_.MachineOf(name));
  const bool is_news = is_machine ? worker_views_.HoldMachine(notice.machine, notice.why)
                                  : worker_views_.Hold(name, notice.why);
  if (notice.is_over) return LogInfo("{}: used again, after a job that succeeded", who);
  const std::string text = HeldText(who, notice.why);
  if (is_news) LogWarning("{}", text);
  seats_.ForEachOf(cooks, [&](CookSeat& seat) {
    seat.told.Add([text](ShellListener& one) {
      one.OnPassingWarning("", "", {record::WarningKind::kMachineHeld, text});
    });
  });
}

// Its stream ends, and when it comes back it is told why it may not (WorkerAdmission). A process of
// ours is ended by its launcher when it does not go by itself.
void DirectorShell::Tell(CookMask cooks, const WorkerViolated& notice) {
  const std::string name = workers_.NameOf(notice.worker);
  const std::string who = HeldWorkerText(name, worker_views_.MachineOf(name));
  const std::string text = fmt::format("{} was ended: {}", who, notice.why);
  admission_.EndProcess(name, notice.session, notice.why);
  log_book_.Note(name, LogLevel::kError, fmt::format("is ended: {}", notice.why));
  service_->HangUp(name);
  seats_.ForEachOf(cooks, [&](CookSeat& seat) {
    seat.told.Add([text](ShellListener& one) {
      one.OnPassingWarning("", "", {record::WarningKind::kWorkerEnded, text});
    });
  });
}

void DirectorShell::Tell(CookMask, const CookBegan& notice) {
  seats_.Sit(notice.request, notice.slot);
}

// A cook that refuses a result ends. (The loop hears that before it hears of roots that are built.)
void DirectorShell::LookAtResult(CookSeat& seat, const StoredResultPtr& result) {
  if (result != nullptr) seat.observed.Note(result->observed);
  if (!seat.order.refuses || !seat.refusal.empty() || result == nullptr) return;
  seat.refusal = seat.order.refuses(*result);
  if (seat.refusal.empty()) return;
  Post(Internal([this, number = seat.number()] { Cancel(number); }));
}

// The cook is over when its last group is committed, which may still fail.
void DirectorShell::Tell(CookMask, const CookEnded& notice) {
  const std::shared_ptr<CookSeat> seat = seats_.Leave(notice.request);
  InstigatorNotes instigators;
  if (seat->slot) {
    seat->counters = core_->counters(seat->number());
    seat->told.SetProgress(seat->counters, core_->progress(seat->number()));
  }
  seat->ended = notice;
  if (notice.is_empty) seat->roots.clear();
  if (seat->slot) instigators = NoteInstigators(*seat);
  CommitPending();
  commit_thread_.Post([this, seat, instigators = std::move(instigators)] {
    absl::Status remembered = instigators.Record(journal_);
    if (seat->is_difference) {
      std::vector<InstigatorChange> changes = ChangesOf(seat->references);
      AddGone(*seat->order.base, changes);
      remembered.Update(RecordInstigatorChanges(journal_, changes));
    }
    OnLoop([this, seat, remembered] { Finish(seat, remembered); });
  });
}

// Commit thread: has the loop run `task`, and waits, so that nothing else is written meanwhile.
void DirectorShell::OnLoop(Internal task) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> ran = done->get_future();
  Post(Internal([task = std::move(task), done = std::move(done)] {
    task();
    done->set_value();
  }));
  ran.wait();  // (it ends, too, when the message is dropped)
}

void DirectorShell::Finish(const std::shared_ptr<CookSeat>& seat, const absl::Status& remembered) {
  ShellOutcome outcome{.ended = *seat->ended,
                       .counters = seat->counters,
                       .roots = seat->roots,
                       .bytes_stored = seat->bytes_stored,
                       .bytes_deduplicated = seat->bytes_deduplicated,
                       .lost_blobs = seat->lost_blobs.size(),
                       .lost_packages = seat->lost_packages.size(),
                       .unstarted = seat->unstarted,
                       .unstarted_reason = seat->unstarted_reason,
                       .collections = collections_.Sum(),
                       .world = world_.Get(),
                       .observed = seat->observed,
                       .loss_epoch = journal_.meta().loss_epoch,
                       .in_roots = seat->last_build,
                       .is_difference = seat->is_difference,
                       .refusal = seat->refusal,
                       .remembered = remembered};
  TellFreePrograms(*seat);
  seats_.Remove(seat->number());
  if (seats_.empty()) ForgetPrograms();
  RetryWhatCooksAsk();
  reports_.ForgetUnless([this](AttemptId attempt) { return core_->Knows(attempt); });
  worker_bytes_.ForgetUploads();
  if (seats_.empty()) {
    // All cooks ended by themselves: the next one blames packages anew. (The commit thread waits.)
    if (const absl::Status forgotten = journal_.ForgetProgress(); !forgotten.ok())
      LogWarning("journal: {}", MessageOf(forgotten));
  }
  seat->told.End(std::move(outcome));
}

absl::Status DirectorShell::Remember() {
  std::promise<absl::Status> remembered;
  std::future<absl::Status> told = remembered.get_future();
  commit_thread_.Post([this, &remembered] {
    const auto remember = [this]() -> absl::Status {
      if (options_.may_write) RETURN_IF_ERROR(options_.may_write());
      RETURN_IF_ERROR(successors_.Remember());
      ASSIGN_OR_RETURN(const store::StoreInfo info, store_.Info());
      JournalMeta meta = journal_.meta();
      meta.store_commits = info.commits;
      RETURN_IF_ERROR(journal_.SetMeta(meta));
      RemoveOldTables(options_.state_directory, meta.table_file, clock_.Now() - kTableMax);
      return absl::OkStatus();
    };
    remembered.set_value(remember());
  });
  return told.get();
}

}  // namespace galley::director
