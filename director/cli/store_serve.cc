// StoreServe: `galley store serve`: the store as a cache for REAPI v2 clients.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "common/base/clock.h"
#include "common/base/descriptor_limit.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/memory_limit.h"
#include "common/base/mutex.h"
#include "common/base/named_file.h"
#include "common/base/status_macros.h"
#include "common/store/layers/quota_keeper.h"
#include "common/store/local/sessions.h"
#include "common/store/owner/folder_watch.h"
#include "common/store/reapi/server/reapi_server.h"
#include "common/wire/tls_pair.h"
#include "director/cli/commands.h"
#include "director/cli/door_metrics.h"
#include "director/cli/interrupt.h"
#include "director/cli/limits.h"
#include "director/cli/print_line.h"
#include "director/cli/service_manager.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr absl::Duration kLeaseTime = absl::Hours(3);
constexpr std::chrono::hours kRenewInterval{1};
constexpr std::chrono::seconds kWatchInterval{2};

// Ending: a thread of signals says when to end.
class Ending {
 public:
  void Tell() {
    const base::MutexLock lock(mutex_);
    is_told_ = true;
    told_.NotifyAll();
  }
  // Returns true when a signal came; false: `timeout` passed first.
  bool Wait(std::chrono::seconds timeout) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    const base::MutexLock lock(mutex_);
    while (!is_told_ && std::chrono::steady_clock::now() < end)
      told_.WaitFor(mutex_, end - std::chrono::steady_clock::now());
    return is_told_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar told_;
  bool is_told_ GALLEY_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<uint64_t> UnreadBytesMax(const StoreServeOptions& serve) {
  constexpr uint64_t kLeast = 256 << 20;
  if (serve.max_unread.empty()) return std::max(kLeast, MemoryLimits().Sample().limit_bytes / 4);
  const absl::StatusOr<uint64_t> size = ParseSize(serve.max_unread);
  return size.ok() ? size : Annotate(size.status(), "--max-unread");
}

absl::StatusOr<store::ReapiServerOptions> ServerOptions(const StoreServeOptions& serve) {
  store::ReapiServerOptions options{
      .addresses = serve.listen,
      .tls = {.certificate = serve.tls_cert, .key = serve.tls_key, .ca = serve.tls_ca}};
  if (options.addresses.empty()) options.addresses.emplace_back(kReapiAddress);
  ServerShare share;
  RETURN_IF_ERROR(ShareDescriptors(CurrentDescriptorLimit().soft, serve.connections_max, share));
  options.door = {.connections_max = share.connections,
                  .unfinished_per_address_max = serve.silent_max,
                  .patience = absl::Seconds(serve.silent_seconds)};
  options.calls_max = share.calls;
  ASSIGN_OR_RETURN(options.reply_bytes_max, UnreadBytesMax(serve));
  options.uploads.open_max = share.uploads;
  if (!serve.instance.empty()) {
    RETURN_IF_ERROR(Annotate(store::CheckInstanceName(serve.instance), "--instance"));
    options.reapi.instance = serve.instance;
  }
  if (!serve.tls_cert.empty() || !serve.tls_key.empty())
    RETURN_IF_ERROR(wire::ReadTlsFiles(options.tls).status());
  if (!serve.identities.empty()) {
    ASSIGN_OR_RETURN(options.identities, store::ReadIdentities(serve.identities));
    options.identities_file = serve.identities;
  }
  return options;
}

absl::StatusOr<uint64_t> QuotaOf(const GlobalOptions& options, const StoreServeOptions& serve) {
  if (!serve.max_size.empty()) {
    const absl::StatusOr<uint64_t> size = ParseSize(serve.max_size);
    return size.ok() ? size : Annotate(size.status(), "--max-size");
  }
  if (!options.store.empty()) return UINT64_MAX;
  ASSIGN_OR_RETURN(const project::Project project, OpenProject(options));
  return project.store.size_bytes_max;
}

// Returns true for errors of the command line or of the files that it names.
bool IsUsage(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
         absl::IsPermissionDenied(status) || absl::IsNotFound(status);
}

void Announce(const GlobalOptions& options, const std::string& directory,
              const std::vector<std::string>& addresses, bool has_tls) {
  std::vector<std::string> urls;
  for (const std::string& address : addresses) {
    urls.push_back(address.starts_with("unix:")
                       ? address
                       : fmt::format("{}://{}", has_tls ? "grpcs" : "grpc", address));
  }
  if (options.json) {
    PrintJson({{"event", "serving"}, {"directory", directory}, {"urls", urls}});
  } else if (!options.quiet) {
    PrintLine("serving {} at {}", directory, fmt::join(urls, ", "));
  }
  std::fflush(stdout);
}

// MetricsFile: the file of --metrics. An empty path: nothing is written.
class MetricsFile {
 public:
  MetricsFile(const store::ReapiServer& server, const std::string& path)
      : server_(server), path_(path.empty() ? "" : AbsolutePath(path)) {}

  absl::Status Write() const {
    return path_.empty() ? absl::OkStatus() : WriteNamedFile(path_, DoorMetrics(server_.door()));
  }
  // A metrics file that can no longer be written is no reason to serve nobody: the log says so
  // once.
  void WriteAgain() {
    const absl::Status written = Write();
    if (!written.ok() && !std::exchange(is_said_, true))
      LogWarning("store serve: --metrics: {}", MessageOf(written));
  }

 private:
  const store::ReapiServer& server_;
  const std::string path_;
  bool is_said_ = false;
};

// kDone: a signal came; kInfrastructure: the store is gone.
int ServeUntilEnd(Ending& ending, const store::FolderWatch& watch, store::Session& session,
                  MetricsFile& metrics, const GlobalOptions& options) {
  auto renewed_at = std::chrono::steady_clock::now();
  while (!ending.Wait(kWatchInterval)) {
    metrics.WriteAgain();
    if (const absl::Status folder = watch.CheckFolderAndLock(); !folder.ok())
      return Fail(options, kInfrastructure, MessageOf(folder));
    if (std::chrono::steady_clock::now() - renewed_at < kRenewInterval) continue;
    renewed_at = std::chrono::steady_clock::now();
    if (const absl::Status renewed = session.Renew(kLeaseTime); !renewed.ok())
      LogWarning("store serve: {}: more is kept than need be", MessageOf(renewed));
  }
  return kDone;
}

}  // namespace

int RunStoreServe(const GlobalOptions& options, const StoreServeOptions& serve) {
  // The operator of a server reads its log: the log also says that a reload was taken.
  InitLog("galley",
          options.verbose ? LogLevel::kDebug
          : options.quiet ? LogLevel::kWarning
                          : LogLevel::kInfo,
          "");
  const auto server_options = ServerOptions(serve);
  if (!server_options.ok()) {
    return Fail(options, IsUsage(server_options.status()) ? kUsage : kInfrastructure,
                MessageOf(server_options.status()));
  }
  const absl::StatusOr<uint64_t> bytes_max = QuotaOf(options, serve);
  if (!bytes_max.ok()) return Fail(options, kUsage, MessageOf(bytes_max.status()));
  const bool has_tls = !serve.tls_cert.empty();
  for (const std::string& address : server_options->addresses) {
    const absl::Status status =
        store::CheckListener(address, has_tls, !server_options->identities.empty());
    if (!status.ok()) return Fail(options, kUsage, MessageOf(status));
  }
  Ending ending;
  const InterruptWatch interrupts([&ending] { ending.Tell(); });
  const auto opened = OpenStoreOf(options, store::OpenMode::kMakeIfAbsent);
  if (!opened.ok()) {
    return Fail(options, absl::IsInvalidArgument(opened.status()) ? kUsage : kInfrastructure,
                MessageOf(opened.status()));
  }
  const auto info = (*opened)->Info();
  if (!info.ok()) return Fail(options, kInfrastructure, MessageOf(info.status()));
  const auto watch = store::FolderWatch::Begin(info->directory);
  if (!watch.ok()) return Fail(options, kInfrastructure, MessageOf(watch.status()));
  // Clients have no sessions: for this long they may rely on what this server, or its predecessor,
  // told them.
  auto session = store::Session::Begin(info->directory, "store serve");
  if (!session.ok()) return Fail(options, kInfrastructure, MessageOf(session.status()));
  if (const absl::Status renewed = session->Renew(kLeaseTime); !renewed.ok())
    return Fail(options, kInfrastructure, MessageOf(renewed));
  SystemClock clock;
  const auto server = store::ReapiServer::Start(**opened, clock, *server_options);
  if (!server.ok()) {
    return Fail(options, IsUsage(server.status()) ? kUsage : kInfrastructure,
                MessageOf(server.status()));
  }
  store::QuotaKeeper quota(**opened, {.bytes_max = *bytes_max,
                                      .say = [](const std::string& text) { LogInfo("{}", text); }});
  MetricsFile metrics(**server, serve.metrics);
  if (const absl::Status written = metrics.Write(); !written.ok())
    return Fail(options, kUsage, fmt::format("--metrics: {}", MessageOf(written)));
  Announce(options, info->directory, (*server)->addresses(), has_tls);
  NotifyServiceManager("READY=1");
  const int code = ServeUntilEnd(ending, *watch, *session, metrics, options);
  NotifyServiceManager("STOPPING=1");
  return code;
}

}  // namespace galley::cli
