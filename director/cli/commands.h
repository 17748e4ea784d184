// Commands: one function for each command of `galley`; each function returns its exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/record/worker_offer.h"
#include "director/cli/cook_options.h"
#include "director/cli/global_options.h"
#include "director/cli/package_rows.h"

namespace galley::cli {

int RunInit(const GlobalOptions& options, const std::string& directory);
int RunCook(const CookCommandOptions& options);
// Runs `galley cook --dry-run`.
int RunDryCook(const CookCommandOptions& options);
struct ServeOptions {
  GlobalOptions global;
  ProjectOptions project;
  std::string listen;  // for clients of other machines; empty: none
  bool detach = false, stop = false;
  FarDirector far;  // the director for `stop`
};
int RunServe(const ServeOptions& options);
struct WorkerOptions {
  GlobalOptions global;
  std::string director, token_file;  // empty: the project's
  std::string name;                  // empty: host and process
  uint32_t slots = 0;                // 0: one for each core
  std::string shared_path;           // the project for reading; empty: none
  std::string cache;                 // empty: in the user's folder of caches
  std::string cache_size = "10GiB";
  std::string tls_ca, tls_cert, tls_key;  // empty: no TLS
  // The ticket from its launcher: a file, or "-" for the first line of the standard input; and the
  // worker's index in the ticket.
  std::string ticket;
  uint32_t index = 0;
  bool is_until_input_ends = false;
  std::vector<std::string> labels, resources;  // as written
  record::WorkerOffer offer;                   // labels and resources, with what the ticket says
};
// Becomes galley-worker; returns only if galley-worker cannot be started.
int RunWorker(const WorkerOptions& options);
int RunStatus(const GlobalOptions& options, const FarDirector& far);
int RunTop(const GlobalOptions& options, const FarDirector& far);
int RunCancel(const GlobalOptions& options, const FarDirector& far, uint64_t cook);
// `worker`: a name, or name@machine; empty: prints the quarantined workers.
int RunReadmit(const GlobalOptions& options, const std::string& worker);
// `worker`: empty: all workers.
int RunDrain(const GlobalOptions& options, const FarDirector& far, const std::string& worker);
struct LogsOptions {
  std::string what;       // a worker or a package; empty: everything
  std::string since;      // a time or an age; empty: every kept line
  uint32_t lines = 1000;  // last lines; 0: all
  bool follow = false;
  FarDirector far;
};
int RunLogs(const GlobalOptions& options, const LogsOptions& logs);
struct WhyOptions {
  std::string package;
  std::string platform;  // empty: all platforms
  uint32_t limit = 0;    // paths, and names of lists; 0: a readable number
  uint32_t cursor = 0;   // paths to leave out: the `next` of an earlier answer
  bool all = false;      // all paths
  FarDirector far;
};
int RunImpact(const GlobalOptions& options, const std::vector<std::string>& files);
int RunWhy(const GlobalOptions& options, const WhyOptions& why);
int RunRecords(const GlobalOptions& options, const std::string& package,
               const std::string& platform, const std::string& export_directory);
int RunRoots(const GlobalOptions& options);
int RunTree(const GlobalOptions& options, const std::string& root, const std::string& path);
int RunDiff(const GlobalOptions& options, const std::string& before, const std::string& after);
int RunCheckout(const GlobalOptions& options, const std::string& root, const std::string& directory,
                bool link);
// `platform` empty: all platforms. Exit code 1: a sandbox differs from its root.
int RunStageCheck(const GlobalOptions& options, const std::string& platform);
int RunPatch(const GlobalOptions& options, const std::string& before, const std::string& after,
             const std::string& file);
int RunApply(const GlobalOptions& options, const std::string& file, const std::string& directory);
int RunStoreStats(const GlobalOptions& options);
struct StoreVerifyOptions {
  std::string rate;  // bytes per second; empty: as fast as possible
  bool restart = false, repair = false;
};
int RunStoreVerify(const GlobalOptions& options, const StoreVerifyOptions& verify);
struct StoreServeOptions {
  std::vector<std::string> listen;  // empty: kReapiAddress
  std::string identities;           // a file (store/reapi/gate.h)
  std::string tls_cert, tls_key, tls_ca;
  std::string instance;          // empty: any instance
  std::string max_size;          // empty: the project's size, or any
  uint64_t connections_max = 0;  // 0: as the descriptors allow, at most 4,096
  uint64_t silent_max = 256;     // silent connections from one address
  uint64_t silent_seconds = 20;
  std::string max_unread;  // empty: a quarter of the memory
  std::string metrics;     // a file; empty: no metrics
};
inline constexpr const char* kReapiAddress = "127.0.0.1:8980";
struct StoreGcOptions {
  std::string max_size, max_age;  // empty: not given
  bool is_dry = false;
};
int RunStoreGc(const GlobalOptions& options, const StoreGcOptions& gc);
struct StoreRevokeOptions {
  std::string worker, since;  // `since` empty: always
  bool is_dry = false;
};
int RunStoreRevoke(const GlobalOptions& options, const StoreRevokeOptions& revoke);
// Serves until an interrupt.
int RunStoreServe(const GlobalOptions& options, const StoreServeOptions& serve);
// Puts a folder or a file, as a tree.
int RunStorePut(const GlobalOptions& options, const std::string& path, const std::string& pin);
int RunStoreWhy(const GlobalOptions& options, const std::string& digest);
int RunStoreCat(const GlobalOptions& options, const std::string& digest);
int RunStoreForget(const GlobalOptions& options, const std::string& key);
int RunStorePin(const GlobalOptions& options, const std::string& name, const std::string& root);
int RunStoreUnpin(const GlobalOptions& options, const std::string& name);
int RunStorePins(const GlobalOptions& options);
struct ListOptions {
  std::vector<std::string> patterns;  // empty: all packages
  bool is_unmatched = false;          // lists the files that no rule matches instead
  RowChoice choice;
  bool totals = false;  // also with --quiet and --json
};
// Lists packages that match a pattern, or files that no rule matches.
int RunLs(const GlobalOptions& options, const ListOptions& list);
// `platform`: empty: all.
int RunPath(const GlobalOptions& options, const std::string& path, const std::string& platform);
struct QueryOptions {
  std::string text;
  std::vector<std::string> columns = {"users", "size"};
  std::string sort = "name";
  size_t limit = 0;      // 0: all rows
  std::string platform;  // empty: all
  bool is_all = false;   // also what no cook follows
  bool is_on_disk = false;
  bool is_dot = false;
};
// Asks the registry.
int RunQuery(const GlobalOptions& options, const QueryOptions& query);
int RunClean(const GlobalOptions& options, const FarDirector& far,
             const std::vector<std::string>& packages);
int RunDoctor(const GlobalOptions& options);
// DeviceOptions: of `galley device ...` and `galley mount`; each command takes some of them.
struct DeviceOptions {
  std::string url, platform;
  std::string path;                // in the cooked tree; empty: its top
  std::vector<std::string> paths;  // for sync; empty: all
  std::string directory, output;
  std::vector<std::string> cultures;
  std::string cache;       // empty: in the user's folder of caches
  std::string cache_size;  // empty: the library's
  std::string token_file;  // empty: the variable GALLEY_DEVICE_TOKEN
  std::string ca, pin;     // of TLS
  int wait_s = 300;
  bool takes_last_good = false, is_recursive = false, is_long = false;
};
int RunDeviceGet(const GlobalOptions& options, const DeviceOptions& device);
int RunDeviceLs(const GlobalOptions& options, const DeviceOptions& device);
int RunDeviceSync(const GlobalOptions& options, const DeviceOptions& device);
int RunDeviceWatch(const GlobalOptions& options, const DeviceOptions& device);
int RunDeviceStatus(const GlobalOptions& options, const DeviceOptions& device);
struct MountOptions {
  GlobalOptions global;
  DeviceOptions device;  // url empty: the project's director
  std::string shown;     // a platform, or a root
  std::string folder;
  bool is_for_all_users = false;
};
int RunMount(const MountOptions& options);

}  // namespace galley::cli
