#include "director/resident/present_world.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/host/cook_world.h"

namespace galley::director {
namespace {

// Time between two looks at what no watch tells: the project file, the shell.
constexpr absl::Duration kTurn = absl::Milliseconds(50);
// Time between two looks at what the watch cannot tell (WorldWatch::Take).
constexpr absl::Duration kFullLookInterval = absl::Seconds(5);

std::string ProjectFileOf(const Director& director) {
  return JoinPath(director.project().root, project::kProjectFile);
}

}  // namespace

PresentWorld::PresentWorld(Deps deps)
    : deps_(std::move(deps)),
      project_file_(StatFile(ProjectFileOf(deps_.director))),
      why_not_("the files of the project are looked at"),
      thread_([this] { Run(); }) {}

PresentWorld::~PresentWorld() { End(); }

void PresentWorld::End() {
  stop_.Cancel();
  if (thread_.joinable()) thread_.join();
  asks_->End("the director ends");
}

// ------------------------------------------------------------------ any thread

absl::StatusOr<WorldPtr> PresentWorld::Get() const {
  const std::shared_ptr<DirectorShell> shell = OwnShell();
  base::MutexLock lock(mutex_);
  used_at_ = deps_.clock.Monotonic();
  if (!why_not_.empty()) return absl::UnavailableError(why_not_);
  return shell == nullptr ? world_ : shell->world();
}

absl::StatusOr<uint64_t> PresentWorld::Ask(std::string package, std::string platform,
                                           PackageAsks::Callback callback) {
  const auto why_not = [this] {
    base::MutexLock lock(mutex_);
    used_at_ = deps_.clock.Monotonic();
    awaited_at_ = deps_.clock.Now();
    return why_not_;
  };
  if (const std::string why = why_not(); !why.empty()) return absl::UnavailableError(why);
  ASSIGN_OR_RETURN(const uint64_t ask,
                   asks_->Add(std::move(package), std::move(platform), std::move(callback)));
  // If the world is not ready any more, nobody may come who aborts the ask.
  if (const std::string why = why_not(); !why.empty() && asks_->Withdraw(ask))
    return absl::UnavailableError(why);
  if (const auto shell = OwnShell(); shell != nullptr) asks_->HandOver(shell, ask);
  return ask;
}

absl::StatusOr<uint64_t> PresentWorld::AskAhead(std::string package, std::string platform,
                                                PackageAsks::Callback callback) {
  const std::shared_ptr<DirectorShell> shell = OwnShell();
  {
    base::MutexLock lock(mutex_);
    if (!why_not_.empty()) return absl::UnavailableError(why_not_);
  }
  if (shell == nullptr) return absl::UnavailableError("the workers rest");
  return asks_->AskAhead(shell, std::move(package), std::move(platform), std::move(callback));
}

absl::Time PresentWorld::awaited_at() const {
  if (!asks_->empty()) return deps_.clock.Now();
  base::MutexLock lock(mutex_);
  return awaited_at_;
}

// Null: the workers rest, or a cook has replaced the shell.
std::shared_ptr<DirectorShell> PresentWorld::OwnShell() const {
  std::shared_ptr<DirectorShell> present = deps_.admission.shell();
  base::MutexLock lock(mutex_);
  return present == shell_.lock() ? present : nullptr;
}

// ------------------------------------------------------------------ the own thread

void PresentWorld::Run() {
  while (!stop_.is_cancelled()) {
    Look();
    if (is_due_) Renew();
    if (const auto shell = OwnShell(); shell != nullptr) asks_->HandOverAll(shell);
    TellWorld();
    Sleep();
  }
}

void PresentWorld::Look() {
  const absl::Time now = deps_.clock.Monotonic();
  LookAtFiles(now);
  is_due_ |= now >= retry_at_ || IsProjectFileAnother();
  is_due_ |= retry_at_ == absl::InfiniteFuture() && NeedsShell();
}

void PresentWorld::LookAtFiles(absl::Time now) {
  if (watch_ == nullptr) {
    base::MutexLock lock(mutex_);
    if (now >= scanned_at_ + kScanInterval && used_at_ > scanned_at_)
      is_all_unseen_ = is_due_ = true;
    return;
  }
  if (!is_heard_ && now < looked_at_ + kFullLookInterval) return;
  looked_at_ = now;
  std::optional<std::vector<std::string>> paths = watch_->Take(now);
  if (!paths.has_value()) {
    watch_.reset();
    is_all_unseen_ = is_due_ = true;
    return;
  }
  is_due_ |= !paths->empty();
  for (std::string& path : *paths) unseen_.push_back(std::move(path));
}

bool PresentWorld::IsProjectFileAnother() const {
  const absl::StatusOr<FileStat> now = StatFile(ProjectFileOf(deps_.director));
  return now.ok() != project_file_.ok() || (now.ok() && *now != *project_file_);
}

// Says whether asks wait for a shell that nobody opens, or a cook has opened another one.
bool PresentWorld::NeedsShell() const {
  const std::shared_ptr<DirectorShell> present = deps_.admission.shell();
  return present == nullptr ? asks_->HasWaiting() : present != OwnShell();
}

void PresentWorld::Sleep() {
  if (watch_ != nullptr) {
    is_heard_ = watch_->Wait(deps_.clock.Monotonic(), kTurn);
  } else {
    stop_.Pause(kTurn);
  }
}

void PresentWorld::Renew() {
  is_due_ = false;
  const absl::Status renewed = TakePresentFiles();
  retry_at_ = absl::InfiniteFuture();
  if (renewed.ok() || stop_.is_cancelled()) return;
  LogWarning("the world of devices is not ready: {}", MessageOf(renewed));
  retry_at_ = deps_.clock.Monotonic() + kRetryInterval;
  TellNotReady(MessageOf(renewed));
}

absl::Status PresentWorld::TakePresentFiles() {
  project_file_ = StatFile(ProjectFileOf(deps_.director));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<DevicePermit> permit,
      deps_.admission.EnterForDevices({.setup = TakeUpProject()}, stop_, [this] {
        TellNotReady("the workers are being replaced: a cook runs that needs other ones");
      }));
  return permit->Prepare([&] { return FollowIn(*permit); });
}

// An error in the project file: nothing changes, as for cooks that run.
SetupPtr PresentWorld::TakeUpProject() {
  const auto project = deps_.project.Read();
  absl::Status failed = project.status();
  if (project.ok()) {
    auto setup = deps_.director.TakeUp(*project);
    if (setup.ok()) return *std::move(setup);
    failed = setup.status();
  }
  LogWarning("devices go on with the last good project file: {}", MessageOf(failed));
  return deps_.director.setup();
}

absl::Status PresentWorld::FollowIn(DevicePermit& permit) {
  ASSIGN_OR_RETURN(std::shared_ptr<World> world, MakeWorldIn(permit));
  if (world != nullptr) RETURN_IF_ERROR(permit.Follow(std::move(world)).status());
  unseen_.clear();
  is_all_unseen_ = false;
  TakeShell();
  return absl::OkStatus();
}

// Null: the shell's world is that of the present files.
absl::StatusOr<std::shared_ptr<World>> PresentWorld::MakeWorldIn(const DevicePermit& permit) {
  const Setup& setup = *permit.needs().setup;
  WorldPtr base = permit.Present();
  const bool has_shell = base != nullptr;
  if (!has_shell) {
    base::MutexLock lock(mutex_);
    base = world_;
  }
  if (is_all_unseen_ || base == nullptr || base->project != setup.project) return ScanIn(permit);
  if (has_shell && unseen_.empty()) return std::shared_ptr<World>();
  auto revised = MakeRevisedWorld(deps_.director, setup, deps_.director.journal().meta(), base,
                                  [this](const content::Snapshot&) { return unseen_; });
  if (revised.ok() || !absl::IsFailedPrecondition(revised.status())) return revised;
  LogInfo("devices: all files are looked at: {}", MessageOf(revised.status()));
  return ScanIn(permit);
}

// The watch begins first, so that no change is missed.
absl::StatusOr<std::shared_ptr<World>> PresentWorld::ScanIn(const DevicePermit& permit) {
  const SetupPtr& setup = permit.needs().setup;
  if (watch_ == nullptr || watched_ != setup->project) BeginWatch(*setup);
  scanned_at_ = deps_.clock.Monotonic();
  return ScanWorld(deps_.director, *setup, stop_);
}

void PresentWorld::BeginWatch(const Setup& setup) {
  watch_.reset();
  auto watch = WorldWatch::Begin(ScanOptionsOf(setup),
                                 JoinPath(setup.project->state_directory(), "device-watch"));
  watched_ = setup.project;
  const bool has_failed = !watch.ok();
  if (has_failed && !has_watch_failed_) {
    LogWarning("devices: all files are looked at every {} while a device asks: {}",
               absl::FormatDuration(kScanInterval), MessageOf(watch.status()));
  }
  has_watch_failed_ = has_failed;
  if (!has_failed) watch_ = *std::move(watch);
}

void PresentWorld::TakeShell() {
  const std::shared_ptr<DirectorShell> shell = deps_.admission.shell();
  base::MutexLock lock(mutex_);
  shell_ = shell;
  if (shell != nullptr) world_ = shell->world();
  why_not_.clear();
}

void PresentWorld::TellNotReady(const std::string& why) {
  {
    base::MutexLock lock(mutex_);
    why_not_ = why;
  }
  asks_->Abort(why);
}

void PresentWorld::TellWorld() {
  const std::shared_ptr<DirectorShell> shell = OwnShell();
  WorldPtr world;
  {
    base::MutexLock lock(mutex_);
    if (shell != nullptr) world_ = shell->world();
    if (why_not_.empty()) world = world_;
  }
  if (world == nullptr || world == told_) return;
  told_ = world;
  if (deps_.changed) deps_.changed(world);
}

}  // namespace galley::director
