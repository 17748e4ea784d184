// FarmLauncher: makes the launcher that a project's [farm] section asks for.
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
  // The director's address for workers; without a port: the port at which the director listens.
  // Empty: the address at which it listens.
  std::string advertise;
  std::string shared_path;  // the project's folder on the machines; empty: none
  bool forward = false;     // ssh: through the connection
  std::string folder;       // of records
  std::string project;      // name of the project
};

// Returns the director's address for workers: `advertise`, with the port of `listened` if it has
// none. With `forward`, or without `advertise`: `listened`, with this machine's name in place of a
// wildcard address.
std::string AddressFor(const FarmLaunch& launch, const std::string& listened);

// Null: `kind` is empty. `ticket`: makes the ticket of a launch, without token and names.
std::unique_ptr<Launcher> CreateFarmLauncher(const FarmLaunch& launch,
                                             std::function<absl::StatusOr<Ticket>()> ticket,
                                             LaunchCallbacks callbacks);

}  // namespace galley::director
