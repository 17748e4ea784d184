// MountCommand: shows a platform, or a root, as a file system until it is asked to end.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/vfs/sockets.h"
#include "director/cli/commands.h"
#include "director/cli/device_access.h"
#include "director/cli/interrupt.h"
#include "director/cli/open_store.h"
#include "director/cli/print_line.h"
#include "director/cli/service_manager.h"
#include "director/devices/device_world.h"
#include "director/mount/followed_platform.h"
#include "director/mount/fuse_session.h"
#include "director/mount/mount_point.h"
#include "director/mount/pinned_tree.h"
#include "director/mount/project_net.h"
#include "director/resident/device_door.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr int kConnectMs = 800;  // without a director an answer comes within a second
constexpr uint64_t kCacheBytes = uint64_t{4} << 30;
constexpr size_t kFoldersBytes = 128 << 20;

uint64_t SteadyMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

absl::Status StatusOf(const vfs::Fault& fault) {
  switch (fault.code) {
    case GALLEY_VFS_INVALID:
    case GALLEY_VFS_ABSENT:
      return absl::InvalidArgumentError(fault.text);
    case GALLEY_VFS_CANCELLED:
      return absl::CancelledError(fault.text);
    default:
      return absl::UnavailableError(fault.text);
  }
}

int FailMount(const GlobalOptions& options, const absl::Status& why) {
  const bool is_usage = absl::IsInvalidArgument(why) || absl::IsFailedPrecondition(why);
  const ExitCode code = is_usage ? kUsage : absl::IsCancelled(why) ? kInterrupted : kInfrastructure;
  return Fail(options, code, EscapeControl(MessageOf(why)));
}

// MountPlan: what is shown, by which director, and where.
struct MountPlan {
  std::optional<project::Project> project;  // nullopt: --url alone says where the director is
  DeviceAccess access;
  std::string platform;             // empty: a root
  std::optional<vfs::BlobId> root;  // that is pinned
  std::string name;                 // "pc"; or the root as it was given
};

// The project, if there is one here. Without --url it must be there.
absl::StatusOr<std::optional<project::Project>> ProjectOfMount(const GlobalOptions& options,
                                                               const DeviceOptions& device) {
  absl::StatusOr<project::Project> project = OpenProject(options);
  if (project.ok()) return std::optional(*std::move(project));
  const bool may_lack = !device.url.empty() && options.project.empty();
  if (may_lack) return std::optional<project::Project>();
  return project.status();
}

// The root that is meant. nullopt: it is a platform.
absl::StatusOr<std::optional<vfs::BlobId>> RootOfMount(
    const GlobalOptions& options, const std::optional<project::Project>& project,
    const std::string& shown) {
  if (const auto root = vfs::BlobId::Parse(shown)) return root;
  if (!project) {
    if (shown.find_first_of("@#:/") == std::string::npos) return std::optional<vfs::BlobId>();
    return InvalidArgumentError(
        "{}: without the project here, expected a platform or a whole root, <hex>/<size>", shown);
  }
  const auto is_platform = [&](const auto& platform) { return platform.name == shown; };
  if (std::ranges::any_of(project->platforms, is_platform)) return std::optional<vfs::BlobId>();
  ASSIGN_OR_RETURN(const OpenedStore opened, OpenStoreAndProject(options));
  const absl::StatusOr<Digest> root = FindRoot(opened, shown);
  if (!root.ok()) {
    std::vector<std::string> names;
    for (const auto& platform : project->platforms) names.push_back(platform.name);
    return InvalidArgumentError("{} is no platform of the project ({}), and no root: {}", shown,
                                fmt::join(names, ", "), MessageOf(root.status()));
  }
  return vfs::BlobId::Parse(root->ToString());
}

absl::StatusOr<MountPlan> PlanOf(const MountOptions& options) {
  MountPlan plan;
  ASSIGN_OR_RETURN(plan.project, ProjectOfMount(options.global, options.device));
  DeviceOptions device = options.device;
  if (device.url.empty()) {
    device.url = director::DeviceUrl(*plan.project);
    if (device.url.empty()) {
      return UnavailableError(
          "no director serves the devices of {}: start one (galley serve --http 127.0.0.1:0), or "
          "name one (--url)",
          plan.project->root);
    }
    // The token of a director on this machine is beside its URL.
    const std::string token = JoinPath(plan.project->state_directory(), director::kHttpTokenFile);
    // The port differs from start to start; the project does not.
    const std::string id = ProjectId(*plan.project);
    if (device.cache.empty() && !id.empty()) {
      ASSIGN_OR_RETURN(device.cache, DeviceCacheOf("project-" + id));
    }
    if (device.token_file.empty() && ::access(token.c_str(), R_OK) == 0) device.token_file = token;
  }
  ASSIGN_OR_RETURN(plan.access, AccessOf(device));
  ASSIGN_OR_RETURN(plan.root, RootOfMount(options.global, plan.project, options.shown));
  if (!plan.root) plan.platform = options.shown;
  plan.name = options.shown;
  return plan;
}

std::vector<mount::ForbiddenFolder> ForbiddenOf(const MountPlan& plan) {
  std::vector<mount::ForbiddenFolder> forbidden = {
      {plan.access.cache_folder, "the cache of what was fetched"}};
  if (!plan.project) return forbidden;
  for (const content::Mount& one : plan.project->mounts)
    forbidden.push_back({one.directory, fmt::format("the project's mount {}", one.path)});
  forbidden.push_back({plan.project->store.directory, "the store"});
  forbidden.push_back({plan.project->state_directory(), "the project's state"});
  forbidden.push_back({plan.project->output_directory, "the folder of sandboxes"});
  return forbidden;
}

// MountSources: what is shown, in the type that it needs.
struct MountSources {
  std::unique_ptr<mount::FollowedPlatform> followed;
  std::unique_ptr<mount::PinnedTree> pinned;
  mount::MountSource& source() {
    return followed != nullptr ? static_cast<mount::MountSource&>(*followed) : *pinned;
  }
};

class MountRun {
 public:
  MountRun(const MountOptions& options, MountPlan plan)
      : options_(options), plan_(std::move(plan)) {
    if (plan_.project && options.device.url.empty()) {
      project_net_.emplace(JoinPath(plan_.project->state_directory(), director::kHttpUrlFile),
                           plan_.access.net());
    }
  }

  absl::Status Run() {
    ASSIGN_OR_RETURN(const bool was_stale, mount::CleanStaleMount(options_.folder));
    if (was_stale)
      LogWarning("mount={} a mount that a killed process left there was taken away",
                 options_.folder);
    ASSIGN_OR_RETURN(const std::string folder,
                     mount::CheckMountPoint(options_.folder, ForbiddenOf(plan_)));
    // From here on an interrupt leaves no mount behind.
    const InterruptWatch interrupt([this] { End(); });
    RETURN_IF_ERROR(Open());
    // The folder of the top tells whether there are such a platform and such a director.
    if (const auto top = sources_.source().Look("", has_stopped_); !top.ok())
      return StatusOf(top.fault());
    mount::MountRequests requests(sources_.source(), log_);
    ASSIGN_OR_RETURN(const std::unique_ptr<mount::FuseSession> session,
                     mount::FuseSession::Begin({.folder = folder,
                                                .name = "galley:" + plan_.name,
                                                .is_for_all_users = options_.is_for_all_users},
                                               requests));
    return Serve(*session, requests, folder);
  }

 private:
  vfs::ClientOptions ClientOptionsFor(const std::string& platform,
                                      std::vector<std::string> cultures) {
    return {.url = *vfs::ParseUrl(plan_.access.url),
            .net = project_net_ ? project_net_->net() : plan_.access.net(),
            .token = plan_.access.token,
            .platform = platform,
            .cultures = std::move(cultures),
            .takes_last_good = options_.device.takes_last_good,
            .root = plan_.root,
            .follows_growth = true,
            .cache_folder = plan_.access.cache_folder,
            .cache_bytes_max =
                plan_.access.cache_bytes_max == 0 ? kCacheBytes : plan_.access.cache_bytes_max,
            .folders_bytes_max = kFoldersBytes,
            .connect_ms = kConnectMs,
            .wait_ms = options_.device.wait_s * 1'000,
            .clock = &SteadyMs,
            .now_s = [] { return static_cast<int64_t>(std::time(nullptr)); },
            .log =
                [this](int level, const std::string& text) {
                  if (level == GALLEY_VFS_WARNING) return LogWarning("{}", text);
                  LogInfo("{}", text);
                  log_.NoteReached();
                },
            .disk = vfs::SystemDisk()};
  }

  absl::Status OpenFollowed(const std::string& platform, std::vector<std::string> cultures) {
    sources_.followed = std::make_unique<mount::FollowedPlatform>(
        ClientOptionsFor(platform, std::move(cultures)), log_);
    const vfs::Outcome failed = sources_.followed->Begin();
    return failed ? StatusOf(*failed) : absl::OkStatus();
  }

  absl::Status Open() {
    const std::lock_guard lock(mutex_);
    if (!plan_.root) return OpenFollowed(plan_.platform, options_.device.cultures);
    sources_.pinned = std::make_unique<mount::PinnedTree>(ClientOptionsFor("", {}), *plan_.root);
    if (const vfs::Outcome failed = sources_.pinned->Begin()) return StatusOf(*failed);
    const vfs::Result<std::optional<std::string>> world = sources_.pinned->WorldOfSession();
    if (!world.ok()) return StatusOf(world.fault());
    if (!*world) return absl::OkStatus();
    ASSIGN_OR_RETURN(const devices::DeviceWorld decoded, devices::DecodeDeviceWorld(**world));
    sources_.pinned.reset();
    return OpenFollowed(decoded.platform, decoded.cultures);
  }

  // Ends what waits, then what tells the kernel of changes, and only then the requests: the kernel
  // answers whoever tells it when they are answered.
  void End() {
    has_stopped_ = true;
    const std::lock_guard lock(mutex_);
    if (sources_.followed == nullptr && sources_.pinned == nullptr) return;
    sources_.source().Cancel();
    if (sources_.followed != nullptr) sources_.followed->Stop();
    if (session_ != nullptr) session_->Stop();
  }

  std::vector<std::string> TellKernel(mount::FuseSession& session, mount::MountRequests& requests,
                                      const mount::FollowedPlatform::Changes& changes) {
    std::vector<std::string> paths = changes.paths;
    for (std::string& path : requests.Outdated(changes.is_all, has_stopped_))
      paths.push_back(std::move(path));
    return requests.Renew(session.get(), std::move(paths), has_stopped_);
  }

  absl::Status Serve(mount::FuseSession& session, mount::MountRequests& requests,
                     const std::string& folder) {
    {
      const std::lock_guard lock(mutex_);
      session_ = &session;
      if (has_stopped_) session.Stop();
      if (!plan_.root && !has_stopped_) {
        sources_.followed->Follow([this, &session, &requests](const auto& changes) {
          return TellKernel(session, requests, changes);
        });
      }
    }
    Tell(folder);
    NotifyServiceManager("READY=1");
    const absl::Status served = session.Serve();
    NotifyServiceManager("STOPPING=1");
    End();
    requests.Stop();
    const std::lock_guard lock(mutex_);
    session_ = nullptr;
    return served;
  }

  void Tell(const std::string& folder) const {
    if (options_.global.json) {
      PrintJson({{"event", "mounted"},
                 {"directory", folder},
                 {"shown", plan_.name},
                 {"url", plan_.access.url},
                 {"follows", !plan_.root},
                 {"process", ::getpid()}});
    } else if (!options_.global.quiet) {
      cli::PrintLine("{} is at {}{} (process {}); Ctrl-C ends it", plan_.name, folder,
                     plan_.root ? "" : ", and follows the project", ::getpid());
    }
    std::fflush(stdout);
  }

  const MountOptions& options_;
  const MountPlan plan_;
  std::optional<mount::ProjectNet> project_net_;
  mount::MountLog log_;
  std::mutex mutex_;
  MountSources sources_;                   // made under mutex_
  mount::FuseSession* session_ = nullptr;  // guarded by mutex_
  std::atomic<bool> has_stopped_ = false;
};

}  // namespace

int RunMount(const MountOptions& options) {
  absl::StatusOr<MountPlan> plan = PlanOf(options);
  if (!plan.ok()) return FailMount(options.global, plan.status());
  const absl::Status ended = MountRun(options, *std::move(plan)).Run();
  return ended.ok() ? kDone : FailMount(options.global, ended);
}

}  // namespace galley::cli
