#include "director/resident/resident_director.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/interface/pins.h"
#include "director/host/near_names.h"
#include "director/host/near_packages.h"
#include "director/host/outcome_status.h"
#include "director/resident/status_view.h"
#include "director/shell/forget_results.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Time between two looks whether the project is still the director's own.
constexpr absl::Duration kLookInterval = absl::Seconds(1);
constexpr std::string_view kStopped = "the director was stopped";
// How long `galley clean` waits for the first cook: less than a client waits for an answer.
constexpr std::chrono::seconds kCleanPatience(3);

// Null: nothing can be watched, and each cook looks at all files.
std::unique_ptr<content::FolderWatch> OpenWatch(const project::Project& project) {
  auto watch =
      content::FolderWatch::Open({.cookie_folder = JoinPath(project.state_directory(), "watch")});
  if (watch.ok()) return *std::move(watch);
  LogWarning("watch: all files are looked at in each cook: {}", MessageOf(watch.status()));
  return nullptr;
}

metrics::Http HttpFiguresOf(const HttpDoorFigures& figures) {
  metrics::Http out{.sent_bytes = figures.sent_bytes,
                    .left = figures.left,
                    .connections = figures.open,
                    .streams = figures.streams,
                    .refused = figures.refused,
                    .timed_out = figures.timed_out};
  for (size_t i = 0; i < figures.answers.size(); ++i)
    out.answers[fmt::format("{}xx", i + 2)] = figures.answers[i];
  return out;
}

metrics::Ahead AheadFiguresOf(const AheadFigures& figures, const CoreFigures& core) {
  return {.made = figures.counts.made,
          .hits = figures.counts.hits,
          .wasted = figures.counts.wasted,
          .killed = core.ahead_killed,
          .slot_seconds = absl::ToDoubleSeconds(core.ahead_slot_time),
          .bytes = figures.counts.bytes,
          .packages = {
              {"waiting", figures.waiting}, {"open", figures.open}, {"unasked", figures.unasked}}};
}

}  // namespace

ResidentDirector::ResidentDirector(Options options, std::unique_ptr<Director> director)
    : is_hosted_(options.is_hosted),
      build_(std::move(options.build)),
      started_(absl::Now()),
      rests_after_(options.rests_after),
      shown_(std::move(options.show)),
      director_(std::move(director)),
      project_(std::move(options.load), options.director.project),
      watched_(is_hosted_ ? nullptr
                          : std::make_unique<WatchedTables>(OpenWatch(director_->project()))),
      store_size_(director_->stores().admin()),
      devices_(*director_, store_size_),
      busy_at_(started_),
      session_renewal_(started_),
      cooks_(
          {.director = *director_,
           .project = project_,
           .trace = trace_,
           .watched = watched_.get(),
           .write_files = std::move(options.write_files),
           .note_result = [this](const StoredResultPtr& result) { devices_.NoteCooked(result); }}) {
}

absl::StatusOr<std::unique_ptr<ResidentDirector>> ResidentDirector::Open(Options options,
                                                                         CookEventSink& sink,
                                                                         Cancellation& stop) {
  const bool is_hosted = options.is_hosted;
  options.director.is_resident = !is_hosted;
  const std::string listen = options.listen;
  const bool has_http = !options.director.project->director.http.empty();
  const bool serves_devices = (options.serves_devices || has_http) && !is_hosted;
  ASSIGN_OR_RETURN(std::unique_ptr<Director> director,
                   Director::Open(options.director, sink, stop));
  auto resident = std::unique_ptr<ResidentDirector>(
      new ResidentDirector(std::move(options), std::move(director)));
  // Opened before clients can come, because a client shows whoever starts a director in the
  // background that it is ready.
  ASSIGN_OR_RETURN(
      resident->metrics_,
      OpenMetrics(resident->director_->project(), [of = resident.get()] { return of->Figures(); }));
  const ResidentDoors::Deps deps{
      .director = *resident->director_,
      .resident = *resident,
      .is_hosted = is_hosted,
      .listen = listen,
      .trace = resident->trace_,
      .figures = resident->figures_,
      .version = resident->build_.version(),
      .project = serves_devices ? &resident->project_ : nullptr,
      .world_changed = [of = resident.get()](const WorldPtr&) { of->devices_.NoteChange(); }};
  // Early clients wait for the lock. A door that goes waits for its clients: after the lock.
  ResidentDoors::Opened opened;
  base::MutexLock lock(resident->mutex_);
  RETURN_IF_ERROR(ResidentDoors::Open(deps, opened));
  resident->doors_ = std::make_unique<ResidentDoors>(deps, std::move(opened));
  if (serves_devices) resident->devices_.Serve(*resident->doors_);
  resident->cooks_.Open(*resident->doors_);
  if (!is_hosted) resident->KeepSources();
  if (!is_hosted) resident->cooks_.GoOn();
  if (resident->doors_->device_door != nullptr)
    resident->doors_->device_door->Serve(*resident->devices_.calls());
  return resident;
}

void ResidentDirector::KeepSources() {
  store::Store& store = director_->stores().store();
  if (director_->kept_sources() == nullptr) {
    // A director that kept sources may have left its pin.
    static_cast<void>(store::RemovePin(store, SourcesPinOf(director_->project_id()), absl::Now()));
    return;
  }
  keeping_ = std::make_unique<SourceKeeping>(
      SourceKeeping::Deps{.kept = *director_->kept_sources(),
                          .store = store,
                          .project_id = director_->project_id(),
                          .world =
                              [this] {
                                const std::shared_ptr<DirectorShell> shell = Shell();
                                return shell == nullptr ? nullptr : shell->world();
                              },
                          .is_busy = [this] { return cooks_.IsAnyCooking(); }});
}

ResidentDirector::~ResidentDirector() {
  metrics_.reset();
  if (keeping_ != nullptr) keeping_->End();
  devices_.Stop();
  if (!has_left_) cooks_.End(std::string(kStopped));
  if (doors_ != nullptr) doors_->Close();
}

absl::Status ResidentDirector::Live(CookEventSink& sink, Cancellation& stop, const Ending& ending) {
  const Cancellation::Hook on_stop(&stop, [this] { asked_to_stop_.Cancel(); });
  absl::Status mine;
  while (!asked_to_stop_.is_cancelled() && mine.ok()) {
    store_size_.LookIfAsked();
    RestIfIdle();
    doors_->Look();
    asked_to_stop_.Pause(kLookInterval);
    mine = director_->MayWrite();
  }
  metrics_.reset();
  if (doors_->device_door != nullptr) doors_->device_door->Close();
  if (keeping_ != nullptr) keeping_->End();
  devices_.Stop();
  doors_->EndDevices();
  LogInfo("the director ends: {}", !mine.ok()            ? MessageOf(mine)
                                   : stop.is_cancelled() ? ending.why()
                                                         : WhoStopped());
  has_left_ = mine.ok() && stop.is_cancelled() && ending.hands_over() &&
              cooks_.Leave(std::string(kStopped));
  if (has_left_) {
    doors_->RemoveSocket();
    return mine;
  }
  cooks_.End(mine.ok() ? std::string(kStopped) : MessageOf(mine));
  doors_->admission.Close();
  Cancellation nobody;
  director_->Close(sink, mine.ok() ? nobody : asked_to_stop_);
  return mine.ok() ? mine : Infrastructure(mine);
}

std::string ResidentDirector::WhoStopped() {
  base::MutexLock lock(mutex_);
  return fmt::format("{} asked it to (`galley serve --stop`)", stopped_by_);
}

absl::StatusOr<v1::HelloAnswer> ResidentDirector::Hello(const v1::HelloAsk&) {
  v1::HelloAnswer answer;
  *answer.mutable_director() = build_;
  answer.set_process(static_cast<uint32_t>(::getpid()));
  answer.set_started_us(absl::ToUnixMicros(started_));
  base::MutexLock lock(mutex_);  // Open holds it until the doors are open, or cannot be
  if (doors_ == nullptr) return absl::UnavailableError("the director could not open");
  for (const uint64_t cook : cooks_.taken_up()) answer.add_taken_up(cook);
  return answer;
}

absl::StatusOr<uint64_t> ResidentDirector::Cook(const v1::CookAsk& ask) {
  AwaitOpen();
  ASSIGN_OR_RETURN(const uint64_t number, cooks_.Begin(ask));
  // Now a portion that begins sees the cook, and one that began before is interrupted.
  if (keeping_ != nullptr) keeping_->Interrupt();
  return number;
}

// Open holds the lock until the doors are open, or cannot be.
void ResidentDirector::AwaitOpen() { base::MutexLock lock(mutex_); }

// Calls still come when the end has begun.
std::shared_ptr<DirectorShell> ResidentDirector::Shell() {
  base::MutexLock lock(mutex_);
  return cooks_.is_open() ? doors_->admission.shell() : nullptr;
}

absl::StatusOr<v1::StatusAnswer> ResidentDirector::Status(const v1::StatusAsk& ask) {
  AwaitOpen();
  v1::StatusAnswer answer;
  ViewProcess(*director_, build_, started_, answer);
  cooks_.View(answer);
  {
    base::MutexLock lock(mutex_);
    if (doors_ != nullptr && doors_->device_door != nullptr) {
      ViewDevices(*doors_->device_door, answer);
      const auto ahead = devices_.ahead();
      if (ahead) ViewAhead(*ahead, figures_.Read().core.ahead_killed, answer);
    }
  }
  if (const auto shell = Shell(); shell != nullptr) ViewWorkers(*shell, ask, answer);
  ViewStore(*director_, store_size_.AskForBytes(), answer);
  if (keeping_ != nullptr) ViewKeptSources(keeping_->progress(), answer);
  answer.set_is_hosted(is_hosted_);
  if (watched_ != nullptr) answer.set_watch(watched_->State());
  project_.Renew();
  for (const std::string& note : project_.notes()) answer.add_wrong(note);
  return answer;
}

metrics::Figures ResidentDirector::Figures() {
  std::optional<metrics::Http> devices;
  std::optional<AheadFigures> ahead;
  {
    base::MutexLock lock(mutex_);
    if (doors_ == nullptr) return {};  // the director is about to open
    if (doors_->device_door != nullptr) devices = HttpFiguresOf(doors_->device_door->figures());
    ahead = devices_.ahead();
  }
  metrics::Figures figures = doors_->meter.Read(cooks_.UnderWay());
  figures.http = std::move(devices);
  if (ahead) figures.ahead = AheadFiguresOf(*ahead, figures_.Read().core);
  return figures;
}

// A director that nobody asks for long, neither for a cook nor for a package, lets its workers go,
// and forgets everything that it was told of the store: from then on a collection may drop what was
// not used since. The next cook begins like the first. While devices go on asking, without a cook,
// only what was told long ago is forgotten.
void ResidentDirector::RestIfIdle() {
  const absl::Time now = absl::Now();
  const bool is_any_cooking = cooks_.IsAnyCooking();
  if (session_renewal_.IsDue(now, is_any_cooking))
    director_->stores().RenewSession(SessionRenewal::kReliesFor);
  if (is_any_cooking) busy_at_ = now;
  if (present_world() != nullptr) busy_at_ = std::max(busy_at_, present_world()->awaited_at());
  if (now < busy_at_ + rests_after_) return;
  busy_at_ = now;
  const auto permit = doors_->admission.Enter(0, CookClass::kAhead, {}, asked_to_stop_, [] {});
  if (!permit.ok()) return;
  if (doors_->admission.shell() != nullptr) LogInfo("nobody asks: the workers end");
  doors_->admission.Close();
  director_->stores().RenewSession();
}

absl::StatusOr<v1::DrainAnswer> ResidentDirector::Drain(const v1::DrainAsk& ask) {
  const std::shared_ptr<DirectorShell> shell = Shell();
  std::vector<std::string> workers, names;
  if (shell != nullptr) {
    for (const WorkerStatus& view : shell->Workers()) {
      names.push_back(view.name);
      if (ask.worker().empty() || ask.worker() == view.name) workers.push_back(view.name);
    }
  }
  if (workers.empty() && !ask.worker().empty()) {
    return NotFoundError("no worker \"{}\" is attached{}", ask.worker(),
                         NearText(NearNames(ask.worker(), names)));
  }
  if (shell != nullptr) shell->Drain(workers);
  v1::DrainAnswer answer;
  answer.mutable_workers()->Assign(workers.begin(), workers.end());
  return answer;
}

// Null: a cook was in the admission all the time.
std::unique_ptr<CookPermit> ResidentDirector::EnterSoon() {
  Cancellation stop;
  std::promise<void> entered;
  std::thread timer([&stop, has_entered = entered.get_future()] {
    if (has_entered.wait_for(kCleanPatience) == std::future_status::timeout) stop.Cancel();
  });
  auto permit = doors_->admission.Enter(0, CookClass::kNow, {}, stop, [] {});
  entered.set_value();
  timer.join();
  return permit.ok() ? *std::move(permit) : nullptr;
}

absl::StatusOr<v1::CleanAnswer> ResidentDirector::Clean(const v1::CleanAsk& ask) {
  const std::vector<std::string> packages(ask.packages().begin(), ask.packages().end());
  std::shared_ptr<DirectorShell> shell;
  {
    base::MutexLock lock(mutex_);
    if (!cooks_.is_open()) return absl::UnavailableError("the director is about to end");
    shell = doors_->admission.shell();
  }
  std::unique_ptr<CookPermit> permit;
  if (shell == nullptr) {  // nobody has cooked here yet
    permit = EnterSoon();
    if (permit == nullptr) shell = doors_->admission.shell();
  }
  if (shell != nullptr) {
    RETURN_IF_ERROR(WithNearPackages(director_->journal(), packages, shell->Forget(packages)));
  } else if (permit == nullptr) {
    return absl::UnavailableError(
        "the first cook of this director looks at the files; ask again when it cooks");
  } else {
    KeptLimits limits(director_->project().state_directory());
    Journal& journal = director_->journal();
    RETURN_IF_ERROR(WithNearPackages(
        journal, packages, ForgetResults(packages, director_->stores().store(), journal, limits)));
  }
  v1::CleanAnswer answer;
  answer.mutable_forgotten()->Assign(packages.begin(), packages.end());
  return answer;
}

v1::StopAnswer ResidentDirector::Stop(const std::string& who) {
  {
    base::MutexLock lock(mutex_);
    if (stopped_by_.empty()) stopped_by_ = who;
  }
  v1::StopAnswer answer;
  answer.set_process(static_cast<uint32_t>(::getpid()));
  asked_to_stop_.Cancel();
  return answer;
}

}  // namespace galley::director
