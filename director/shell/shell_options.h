// ShellOptions: the options of a DirectorShell.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/interface/store.h"
#include "director/core/cook_core.h"
#include "director/journal/journal.h"
#include "director/launch/farm_launcher.h"
#include "director/launch/worker_record.h"
#include "director/serve/director_door.h"
#include "director/serve/farm_door.h"
#include "director/shell/figures_board.h"
#include "director/shell/inbox.h"
#include "director/shell/kept_sources.h"
#include "director/shell/lookup.h"
#include "director/shell/trace.h"
#include "director/shell/write_back.h"

namespace galley::director {

struct ShellOptions {
  std::string state_directory;
  std::string socket_path;          // where workers attach if there is no `door`
  std::string worker_program;       // galley-worker
  std::string cookers_json;         // descriptions of this director's cookers
  bool is_identity_binary = false;  // [cook] identity = "binary"
  CookOptions core;
  LookUpRunner::Options look_up;
  std::string worker_build;       // Cookers::build
  bool has_far_programs = false;  // workers without the project's files get jobs of `command`
  uint32_t slots = 1;
  uint64_t memory_bytes_default = 4ull << 30;
  absl::Duration timeout_default = absl::Minutes(30);
  std::string project_id;
  uint32_t keep_roots = 0;  // PublishedRoot::keep_roots
  // Called before files of the state folder are written. Journal and store have fences of their
  // own.
  std::function<absl::Status()> may_write;
  // Called when a worker or an attempt ended because of its machine. An error ends the cooks,
  // because further attempts would not make room on the disk.
  std::function<absl::Status()> has_room;
  // Memory that this process may use; 0: no limit.
  uint64_t own_memory_bytes = 0;
  std::function<uint64_t()> own_memory_used = nullptr;  // null: the resident bytes of this process
  // The living workers of a dead director, and the attempts that it gave them.
  std::vector<WorkerRecord> survivors;
  std::vector<AttemptRecord> given_before;
  // The upstream cache behind our store, and the WriteBack that sends results to it; null: none.
  store::RemoteCache* remote = nullptr;
  WriteBack* write_back = nullptr;
  KeptSources* kept_sources = nullptr;  // outlives the shell; null: sources are not kept
  // The socket of the director; outlives the shell. Null: the shell opens a socket at
  // `socket_path`.
  DirectorDoor* door = nullptr;
  // The address for workers of other machines ([farm] listen); empty: there is none.
  std::string farm_listen;
  wire::TlsFiles farm_tls;  // no certificate: no TLS
  absl::Duration farm_certificate_lifetime = kFarmCertificateLifetime;
  // The board for the shell's counts; outlives the shell. Null: there are no metrics.
  FiguresBoard* figures = nullptr;
  // How workers are launched on other machines, as many as CookOptions::fleet says; they attach at
  // `farm_listen`.
  FarmLaunch farm_launch;
};

// Files under the state folder: the address with its port, while workers can attach at farm_listen;
// and the token that workers show, which stays the same (mode 0600).
inline constexpr const char* kFarmAddressFile = "farm-address";
inline constexpr const char* kFarmTokenFile = "farm-token";

// ShellGround: the objects that all parts of a shell use, and that outlive the parts.
struct ShellGround {
  const ShellOptions& options;
  store::Store& store;
  Journal& journal;
  Trace& trace;
  Clock& clock;
  CookCore& core;
  Inbox& inbox;
};

}  // namespace galley::director
