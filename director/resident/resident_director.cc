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
#include "director/resident/asked_environment.h"
#include "director/resident/status_view.h"
#include "director/shell/forget_results.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Time between two looks whether the project is still the director's own.
constexpr absl::Duration kLookInterval = absl::Seconds(1);
constexpr std::string_view kStopped = "the director was stopped";
// Time for readers to hear the reports of cooks that the director's end cancelled.
constexpr absl::Duration kFarewell = absl::Seconds(2);
// Ended cooks whose readers may still come.
constexpr size_t kEndedKept = 4;
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
      write_files_(std::move(options.write_files)),
      shown_(std::move(options.show)),
      director_(std::move(director)),
      project_(std::move(options.load), options.director.project),
      archive_(director_->project().state_directory()),
      last_(director_->project().state_directory()),
      store_size_(director_->stores().admin()),
      present_project_(*director_),
      busy_at_(started_),
      session_renewal_(started_) {
  if (!is_hosted_) watched_.emplace(OpenWatch(director_->project()));
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
  const ResidentDoors::Deps deps{.director = *resident->director_,
                                 .resident = *resident,
                                 .is_hosted = is_hosted,
                                 .listen = listen,
                                 .trace = resident->trace_,
                                 .figures = resident->figures_,
                                 .version = resident->build_.version(),
                                 .project = serves_devices ? &resident->project_ : nullptr,
                                 .world_changed = [of = resident.get()](const WorldPtr&) {
                                   of->present_project_.NoteChange();
                                 }};
  // Early clients wait for the lock. A door that goes waits for its clients: after the lock.
  ResidentDoors::Opened opened;
  base::MutexLock lock(resident->mutex_);
  RETURN_IF_ERROR(ResidentDoors::Open(deps, opened));
  resident->doors_ = std::make_unique<ResidentDoors>(deps, std::move(opened));
  if (serves_devices) resident->ServeDevices();
  resident->is_open_ = true;
  if (!is_hosted) resident->KeepSources();
  if (!is_hosted) resident->GoOn();
  if (resident->doors_->device_door != nullptr)
    resident->doors_->device_door->Serve(*resident->devices_);
  return resident;
}

void ResidentDirector::ServeDevices() {
  present_project_.Attach(*doors_->present_world);
  const project::StoreSection& store = director_->project().store;
  devices_ = std::make_unique<DeviceService>(DeviceService::Deps{
      .present = present_project_,
      .store = director_->stores().store(),
      .journal = director_->journal(),
      .remaker = director_->remaker(),
      .kept = director_->kept_sources(),
      .threads = device_threads_,
      .trust_domain = store.trust,
      .read_trust = store.read_trust,
      .sessions = {.project = director_->project_id(), .changes = {.term = director_->term()}},
      .ahead = SettingsOfAhead()});
  present_project_.SetListener([this] { devices_->NoteWorld(); });
  devices_->NoteWorld();  // the world may have come before the listener
}

CookAhead::Settings ResidentDirector::SettingsOfAhead() {
  return {.is_on = director_->project().director.ahead,
          .store_bytes_max = director_->project().store.size_bytes_max,
          .slots =
              [this] {
                uint64_t slots = 0;
                const std::shared_ptr<DirectorShell> shell = doors_->admission.shell();
                if (shell == nullptr) return slots;
                for (const WorkerStatus& worker : shell->Workers()) slots += worker.slots;
                return slots;
              },
          .store_bytes = [this] { return store_size_.AskForBytes(); }};
}

// The service outlives the doors, whose calls end with them.
void ResidentDirector::StopDevices() {
  if (devices_ == nullptr) return;
  present_project_.SetListener(nullptr);
  devices_->Stop();
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
                          .is_busy = [this] { return IsAnyCooking(); }});
}

bool ResidentDirector::IsAnyCooking() {
  base::MutexLock lock(mutex_);
  return std::ranges::any_of(cooks_, [](const auto& one) { return !one.second->has_ended(); });
}

// Goes on with the detached cooks that the previous director left.
void ResidentDirector::GoOn() {
  for (auto& [number, ask] : archive_.Kept()) {
    LogInfo("cook={} goes on: the director before left it", number);
    taken_up_.push_back(number);
    Begin(ask, number, archive_.BeginAgain(number));
  }
}

ResidentCook::Deps ResidentDirector::DepsOfCooks() {
  return {.director = *director_,
          .admission = doors_->admission,
          .meter = doors_->meter,
          .project = project_,
          .archive = archive_,
          .last = last_,
          .trace = trace_,
          .watched = watched_.has_value() ? &*watched_ : nullptr,
          .write_files = write_files_,
          .note_result = [this](const StoredResultPtr& result) {
            if (devices_ != nullptr) devices_->NoteCooked(result);
          }};
}

void ResidentDirector::Begin(const v1::CookAsk& ask, uint64_t number,
                             std::shared_ptr<CookLog> log) {
  cooks_[number] = std::make_unique<ResidentCook>(DepsOfCooks(), ask, number, std::move(log));
}

CookReport ResidentDirector::CookHosted(const v1::CookAsk& ask, ResidentCook::Host host) {
  auto hosted = std::make_unique<ResidentCook>(DepsOfCooks(), ask, std::move(host));
  ResidentCook& cook = *hosted;
  {
    base::MutexLock lock(mutex_);
    cooks_[cook.number()] = std::move(hosted);
  }
  return cook.RunHosted();
}

ResidentDirector::~ResidentDirector() {
  metrics_.reset();
  if (keeping_ != nullptr) keeping_->End();
  StopDevices();
  EndCooks(std::string(kStopped));
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
  StopDevices();
  doors_->EndDevices();
  LogInfo("the director ends: {}", !mine.ok()            ? MessageOf(mine)
                                   : stop.is_cancelled() ? ending.why()
                                                         : WhoStopped());
  if (mine.ok() && stop.is_cancelled() && ending.hands_over() && LeaveCooks()) return mine;
  EndCooks(mine.ok() ? std::string(kStopped) : MessageOf(mine));
  doors_->admission.Close();
  Cancellation nobody;
  director_->Close(sink, mine.ok() ? nobody : asked_to_stop_);
  return mine.ok() ? mine : Infrastructure(mine);
}

std::string ResidentDirector::WhoStopped() {
  base::MutexLock lock(mutex_);
  return fmt::format("{} asked it to (`galley serve --stop`)", stopped_by_);
}

// False: there was no cook. The threads of the cooks go on until the process ends.
bool ResidentDirector::LeaveCooks() {
  std::vector<std::shared_ptr<CookLog>> logs;
  {
    base::MutexLock lock(mutex_);
    is_open_ = false;
    for (const auto& [number, cook] : cooks_) {
      if (cook->has_ended()) continue;
      LogInfo("cook={} is left to the next director", number);
      cook->Abandon(std::string(kStopped));
      logs.push_back(cook->log());
    }
  }
  if (logs.empty()) return false;
  AwaitReaders(logs);
  doors_->RemoveSocket();
  has_left_ = true;
  return true;
}

void ResidentDirector::EndCooks(const std::string& why) {
  if (has_left_) return;
  std::map<uint64_t, std::unique_ptr<ResidentCook>> cooks;
  {
    base::MutexLock lock(mutex_);
    is_open_ = false;
    cooks.swap(cooks_);
  }
  for (const auto& [number, cook] : cooks) cook->Stop(why);
  std::vector<std::shared_ptr<CookLog>> logs;
  for (auto& [number, cook] : cooks) {
    if (cook->log() != nullptr) logs.push_back(cook->log());
    cook.reset();  // waits
  }
  AwaitReaders(logs);
}

// A slow reader may miss the end.
void ResidentDirector::AwaitReaders(const std::vector<std::shared_ptr<CookLog>>& logs) {
  const absl::Time until = absl::Now() + kFarewell;
  for (const auto& log : logs) {
    while (log->readers() > 0 && absl::Now() < until) absl::SleepFor(absl::Milliseconds(10));
  }
}

absl::StatusOr<v1::HelloAnswer> ResidentDirector::Hello(const v1::HelloAsk&) {
  v1::HelloAnswer answer;
  *answer.mutable_director() = build_;
  answer.set_process(static_cast<uint32_t>(::getpid()));
  answer.set_started_us(absl::ToUnixMicros(started_));
  base::MutexLock lock(mutex_);  // Open holds it until the doors are open, or cannot be
  if (doors_ == nullptr) return absl::UnavailableError("the director could not open");
  for (const uint64_t cook : taken_up_) answer.add_taken_up(cook);
  return answer;
}

absl::StatusOr<uint64_t> ResidentDirector::Cook(const v1::CookAsk& ask) {
  base::MutexLock lock(mutex_);
  if (!is_open_) return absl::UnavailableError("the director is about to end");
  LetGoOfEnded();
  if (cooks_.size() >= kCooksMax) {
    return ResourceExhaustedError("{} cooks run and wait; the director takes no more", kCooksMax);
  }
  if (keeping_ != nullptr) keeping_->Interrupt();
  CookArchive::Begun begun = archive_.Begin(director_->term());
  if (ask.is_detached()) {
    v1::CookAsk sealed = ask;
    SealEnvironment(sealed);
    if (const absl::Status kept = archive_.Keep(begun.number, sealed); !kept.ok()) {
      return ResourceExhaustedError("--detach: what is asked cannot be kept: {}", MessageOf(kept));
    }
  }
  Begin(ask, begun.number, std::move(begun.log));
  return begun.number;
}

void ResidentDirector::LetGoOfEnded() {
  auto ended =
      std::ranges::count_if(cooks_, [](const auto& one) { return one.second->has_ended(); });
  for (auto at = cooks_.begin(); at != cooks_.end();) {
    if (at->second->has_ended() && static_cast<size_t>(ended) > kEndedKept) {
      at = cooks_.erase(at);
      --ended;
      ++ended_;
    } else {
      ++at;
    }
  }
}

absl::StatusOr<std::unique_ptr<CookReader>> ResidentDirector::Read(uint64_t cook) {
  {
    base::MutexLock lock(mutex_);
    const auto found = cooks_.find(cook);
    if (found != cooks_.end()) return CookLog::Read(found->second->log());
  }
  ASSIGN_OR_RETURN(std::shared_ptr<CookLog> log, archive_.Find(cook));
  return CookLog::Read(std::move(log));
}

absl::Status ResidentDirector::Cancel(uint64_t cook) {
  base::MutexLock lock(mutex_);
  const auto found = cooks_.find(cook);
  if (found == cooks_.end() || found->second->has_ended())
    return NotFoundError("no cook {} runs or waits", cook);
  LogInfo("cook={} is cancelled", cook);
  found->second->Cancel();
  return absl::OkStatus();
}

// Calls still come when the end has begun.
std::shared_ptr<DirectorShell> ResidentDirector::Shell() {
  base::MutexLock lock(mutex_);
  return is_open_ ? doors_->admission.shell() : nullptr;
}

absl::StatusOr<v1::StatusAnswer> ResidentDirector::Status(const v1::StatusAsk& ask) {
  v1::StatusAnswer answer;
  ViewProcess(*director_, build_, started_, answer);
  {
    base::MutexLock lock(mutex_);
    answer.set_cooks_ended(ended_);
    for (const auto& [number, cook] : cooks_) {
      if (cook->has_ended()) {
        answer.set_cooks_ended(answer.cooks_ended() + 1);
      } else {
        *answer.add_cooks() = cook->View();
      }
    }
    if (doors_ != nullptr && doors_->device_door != nullptr) {
      ViewDevices(*doors_->device_door, answer);
      const auto ahead = devices_ == nullptr ? std::nullopt : devices_->ahead();
      if (ahead) ViewAhead(*ahead, figures_.Read().core.ahead_killed, answer);
    }
  }
  if (const auto shell = Shell(); shell != nullptr) ViewWorkers(*shell, ask, answer);
  ViewStore(*director_, store_size_.AskForBytes(), answer);
  if (keeping_ != nullptr) ViewKeptSources(keeping_->progress(), answer);
  answer.set_is_hosted(is_hosted_);
  if (watched_.has_value()) answer.set_watch(watched_->State());
  project_.Renew();
  for (const std::string& note : project_.notes()) answer.add_wrong(note);
  for (const v1::EndedCook& cook : last_.All()) *answer.add_last_cooks() = cook;
  return answer;
}

metrics::Figures ResidentDirector::Figures() {
  std::vector<DirectorMeter::CookUnderWay> cooks;
  std::optional<metrics::Http> devices;
  std::optional<AheadFigures> ahead;
  {
    base::MutexLock lock(mutex_);
    if (doors_ == nullptr) return {};  // the director is about to open
    for (const auto& [number, cook] : cooks_) {
      if (!cook->has_ended()) cooks.push_back(cook->UnderWay());
    }
    if (doors_->device_door != nullptr) devices = HttpFiguresOf(doors_->device_door->figures());
    if (devices_ != nullptr) ahead = devices_->ahead();
  }
  metrics::Figures figures = doors_->meter.Read(cooks);
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
  const bool is_any_cooking = IsAnyCooking();
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
    if (!is_open_) return absl::UnavailableError("the director is about to end");
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
