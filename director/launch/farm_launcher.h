// The launcher that a project's [farm] asks for, with all that it needs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/launch/hosts_file.h"
#include "director/launch/launcher.h"
#include "director/launch/remote_worker.h"
#include "director/launch/ticket.h"

namespace galley::director {

struct FarmLaunch {
  std::string kind;  // "ssh", "slurm", "kubernetes", "command"; empty: no worker is launched
  RemoteWorker worker;
  std::vector<FarmHost> hosts;         // ssh
  std::vector<std::string> arguments;  // of ssh, sbatch, kubectl
  std::string manifest;                // kubernetes: its text
  std::string start, status, stop;     // command
  // Where workers are told that the director is; without a port: that at which it listens. Empty:
  // where it listens.
  std::string advertise;
  std::string shared_path;  // where the machines see the project's folder; empty: nowhere
  bool forward = false;     // ssh: through the connection
  std::string folder;       // of records
  std::string project;      // its name
};

// What workers are told: `advertise`, as far as it goes, or the address at which is listened, with
// the name of this machine where that is any address of it.
std::string AddressFor(const FarmLaunch& launch, const std::string& listened);

// `ticket`: of each launch; without token and names. Null: `kind` is empty.
std::unique_ptr<Launcher> CreateFarmLauncher(const FarmLaunch& launch,
                                             std::function<absl::StatusOr<Ticket>()> ticket,
                                             LaunchCallbacks callbacks);

}  // namespace galley::director
