#include "director/host/cook_admission.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "common/base/file.h"
#include "common/base/memory_limit.h"
#include "common/base/status_macros.h"
#include "director/host/difference.h"
#include "director/host/outcome_status.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// A worker leaves the owner's reserve of the disk free, whatever it writes. So if a job failed
// because of its machine, and less than this is free beside the reserve, the disk is full.
constexpr uint64_t kRoomOfAJob = 64 << 20;

// Says whether a value neither decides how workers are run nor what they may do. Each cook reads
// [cook] maps and the like; a world has its platforms, mounts, rules and cultures, and what is
// never cooked.
bool IsOfCook(std::string_view key) {
  constexpr std::array kKeys = {"cook.maps",     "cook.directories", "cook.always",
                                "cook.cultures", "cook.never",       "director.ahead",
                                "director.http", "director.metrics", "output.dir"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

std::map<std::string, std::string> SharedValues(const project::Project& project) {
  std::map<std::string, std::string> values;
  for (const project::Origin& one : project.origins) {
    if (!IsOfCook(one.key)) values[one.key] = one.value;
  }
  for (const auto& [name, count] : project.resources)
    values["resource " + name] = fmt::format("{}", count);
  return values;
}

// Memory for a resident director, whose workers on the same machine need memory as well.
uint64_t OwnMemoryBytes(const project::Project& project) {
  if (project.director.memory_bytes != 0) return project.director.memory_bytes;
  return MemoryLimits().Sample().limit_bytes / 2;
}

// Returns how many workers this director keeps on its own machine.
uint32_t WorkersToStart(const project::FarmSection& farm) {
  if (farm.launcher != "local") return 0;  // workers come by themselves, or are launched elsewhere
  return farm.workers != 0 ? farm.workers : std::max(1u, std::thread::hardware_concurrency());
}

bool ShareAShell(const Setup& a, const Setup& b) {
  return &a == &b || (a.cookers.json == b.cookers.json && a.cookers.build == b.cookers.build &&
                      SharedValues(*a.project) == SharedValues(*b.project));
}

}  // namespace

bool CookAdmission::Needs::GoWith(const Needs& other) const {
  return setup != nullptr && other.setup != nullptr && ShareAShell(*setup, *other.setup);
}

absl::StatusOr<std::unique_ptr<CookPermit>> CookAdmission::Enter(
    uint64_t cook, CookClass urgency_class, Needs needs, Cancellation& stop,
    const std::function<void()>& wait) {
  Ticket ticket{-static_cast<int>(urgency_class), cook, 0};
  const auto is_next = [&]() GALLEY_REQUIRES(mutex_) {
    const bool fits = needs.GoWith(needs_) && cooks_ < kCooksMax;
    return *waiting_.begin() == ticket && (IsFree() || fits);
  };
  bool has_to_wait = false;
  {
    base::MutexLock lock(mutex_);
    std::get<2>(ticket) = came_++;
    waiting_.insert(ticket);
    has_to_wait = !is_next();
  }
  if (has_to_wait) wait();
  const Cancellation::Hook on_stop(&stop, [this] {
    base::MutexLock lock(mutex_);
    changed_.NotifyAll();
  });
  base::MutexLock lock(mutex_);
  while (!is_next() && !stop.is_cancelled()) changed_.Wait(mutex_);
  waiting_.erase(ticket);
  changed_.NotifyAll();
  if (stop.is_cancelled()) return Interrupted();
  ++cooks_;
  needs_ = needs;
  return std::make_unique<CookPermit>(*this, cook, std::move(needs));
}

absl::StatusOr<std::unique_ptr<DevicePermit>> CookAdmission::EnterForDevices(
    Needs needs, Cancellation& stop, const std::function<void()>& wait) {
  Ticket ticket{-static_cast<int>(CookClass::kNow), 0, 0};
  const auto fits = [&]() GALLEY_REQUIRES(mutex_) { return IsFree() || needs.GoWith(needs_); };
  bool has_to_wait = false;
  {
    base::MutexLock lock(mutex_);
    std::get<2>(ticket) = came_++;
    has_to_wait = !fits();
    // No cook that would go on with the present workers enters any more.
    if (has_to_wait) waiting_.insert(ticket);
  }
  if (has_to_wait) wait();
  const Cancellation::Hook on_stop(&stop, [this] {
    base::MutexLock lock(mutex_);
    changed_.NotifyAll();
  });
  base::MutexLock lock(mutex_);
  while (!fits() && !stop.is_cancelled()) changed_.Wait(mutex_);
  waiting_.erase(ticket);
  changed_.NotifyAll();
  if (stop.is_cancelled()) return Interrupted();
  ++devices_;
  needs_ = needs;
  return std::make_unique<DevicePermit>(*this, std::move(needs));
}

void CookAdmission::Leave() {
  base::MutexLock lock(mutex_);
  --cooks_;
  changed_.NotifyAll();
}

void CookAdmission::LeaveForDevices() {
  base::MutexLock lock(mutex_);
  --devices_;
  changed_.NotifyAll();
}

// Makes workers and core forget what they were told of the store.
absl::Status CookAdmission::LookAtStore(uint32_t own) {
  Director& director = deps_.director;
  // If the store does not answer, whoever needs it reports the error.
  if (!director.IsStoreAnother().value_or(false)) return absl::OkStatus();
  {
    base::MutexLock lock(mutex_);
    if (cooks_ > own)
      return Infrastructure(
          fmt::format("the store in {} was deleted or replaced, and other cooks of this director "
                      "still run with "
                      "the one before: ask again when they have ended",
                      director.project().store.directory));
  }
  Close();
  return director.TakeUpStore();
}

void CookAdmission::Renew(Needs& needs) const {
  if (Needs newest{.setup = deps_.director.setup()}; newest.GoWith(needs))
    needs = std::move(newest);
}

absl::StatusOr<WorldPtr> CookAdmission::Follow(const SetupPtr& setup,
                                               std::shared_ptr<World> scanned) {
  std::shared_ptr<DirectorShell> present_shell = shell();
  if (present_shell == nullptr || !ShareAShell(*setup_, *setup)) {
    present_shell.reset();
    WorldPtr first = scanned;
    RETURN_IF_ERROR(Open(setup, std::move(scanned)));
    return first;
  }
  auto present = present_shell->Follow(std::move(scanned));
  if (!present.ok()) return Infrastructure("taking a new snapshot", present.status());
  setup_ = setup;
  return present;
}

absl::Status CookAdmission::Open(const SetupPtr& setup, std::shared_ptr<World> world) {
  Close();
  Director& director = deps_.director;
  auto farm = FarmPlanOf(*setup->project);
  if (!farm.ok()) return Infrastructure(farm.status());
  director.BeginTerm();
  RETURN_IF_ERROR(ApplyDifference({.state_directory = director.project().state_directory(),
                                   .project_id = director.project_id(),
                                   .trust_domain = director.project().store.trust,
                                   .term = director.term()},
                                  director.stores().store(), director.journal(), *world));
  ASSIGN_OR_RETURN(Inheritance inherited, director.TakeOver());
  std::vector<CookRequested::Blamed> blamed;
  for (const BlameRecord& one : inherited.progress.blamed)
    blamed.push_back({one.package, one.own_faults, one.what, one.error, one.log});
  auto shell = std::make_shared<DirectorShell>(OptionsOf(*setup, *farm, std::move(inherited)),
                                               std::move(world), director.stores().store(),
                                               director.journal(), deps_.trace);
  if (const absl::Status started = shell->Start(); !started.ok()) return Infrastructure(started);
  setup_ = setup;
  farm_asked_ = farm->listen;
  farm_address_ = shell->farm_address();
  base::MutexLock lock(mutex_);
  shell_ = std::move(shell);
  blamed_ = std::move(blamed);
  return absl::OkStatus();
}

ShellOptions CookAdmission::OptionsOf(const Setup& setup, FarmPlan farm,
                                      Inheritance inherited) const {
  Director& director = deps_.director;
  const project::Project& project = *setup.project;
  const std::string& listen = farm.listen;
  ShellOptions options{
      .state_directory = project.state_directory(),
      .socket_path = SocketOf(project),
      .worker_program = director.worker_program(),
      .cookers_json = setup.cookers.json,
      .is_identity_binary = project.cook.binary_identity,
      .worker_build = setup.cookers.build,
      .has_far_programs = project.farm.far_programs,
      .slots = project.farm.slots,
      .project_id = director.project_id(),
      .keep_roots = project.store.keep_roots,
      .may_write = [&director] { return director.MayWrite(); },
      .has_room = [&director] { return director.stores().CheckSpace(kRoomOfAJob); },
      .survivors = std::move(inherited.survivors),
      .given_before = std::move(inherited.progress.given),
      .remote = director.stores().remote(),
      .write_back = director.write_back(),
      .kept_sources = director.kept_sources(),
      .door = deps_.door,
      .farm_listen = listen == farm_asked_ ? farm_address_ : listen};
  // Connections of ssh need no other protection.
  if (!farm.launch.forward)
    options.farm_tls = {.certificate = project.farm.tls_cert,
                        .key = project.farm.tls_key,
                        .ca = project.farm.tls_ca};
  options.farm_certificate_lifetime = absl::Seconds(project.farm.certificate_s);
  options.farm_launch = std::move(farm.launch);
  options.figures = deps_.figures;
  if (director.is_resident()) options.own_memory_bytes = OwnMemoryBytes(director.project());
  options.core.platform_count = static_cast<uint32_t>(project.platforms.size());
  options.core.workers = WorkersToStart(project.farm);
  options.core.fleet = farm.fleet;
  options.core.proofs = {.share = project.farm.prove, .seed = std::random_device()()};
  options.core.term = director.term();
  options.core.cooks_max = kCooksMax;
  options.core.resources = project.resources;
  if (project.farm.launcher == "local") options.core.local_offer = project.farm.offer;
  options.look_up = {.trust_domain = project.store.trust, .read_trust = project.store.read_trust};
  return options;
}

void CookAdmission::Close() {
  setup_.reset();
  std::shared_ptr<DirectorShell> last;
  {
    base::MutexLock lock(mutex_);
    last = std::move(shell_);
  }
  if (last != nullptr) last->Stop();  // somebody may still ask the shell something
}

std::shared_ptr<DirectorShell> CookAdmission::shell() const {
  base::MutexLock lock(mutex_);
  return shell_;
}

absl::StatusOr<ShellOutcome> CookPermit::Cook(CookOrder order, CookEventSink& sink,
                                              Cancellation& stop) {
  order.request.request = cook_;
  std::shared_ptr<DirectorShell> shell;
  {
    base::MutexLock lock(admission_.mutex_);
    order.request.blamed = std::exchange(admission_.blamed_, {});
    shell = admission_.shell_;
  }
  return shell->Cook(std::move(order), sink, stop);
}

}  // namespace galley::director
