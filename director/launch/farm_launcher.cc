#include "director/launch/farm_launcher.h"

#include <unistd.h>

#include <utility>

#include "common/base/status_macros.h"
#include "director/launch/batch_launcher.h"
#include "director/launch/ssh_spawner.h"
#include "director/launch/systems.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::string OurHostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

std::unique_ptr<BatchSystem> SystemOf(const FarmLaunch& launch) {
  if (launch.kind == "slurm") return SlurmSystem(launch.worker, launch.arguments);
  if (launch.kind == "kubernetes")
    return KubernetesSystem(launch.worker, launch.arguments, launch.manifest);
  return CommandSystem(launch.worker, launch.start, launch.status, launch.stop);
}

}  // namespace

std::string AddressFor(const FarmLaunch& launch, const std::string& listened) {
  const size_t colon = listened.rfind(':');
  const std::string port = listened.substr(colon + 1);
  if (!launch.advertise.empty() && !launch.forward) {
    const size_t end = launch.advertise.rfind(']');  // end of an IPv6 address
    const size_t from = end == std::string::npos ? 0 : end;
    const bool has_port = launch.advertise.find(':', from) != std::string::npos;
    return has_port ? launch.advertise : fmt::format("{}:{}", launch.advertise, port);
  }
  const std::string host = listened.substr(0, colon);
  if (host == "0.0.0.0" || host == "[::]" || host.empty())
    return fmt::format("{}:{}", OurHostName(), port);
  return listened;
}

std::unique_ptr<Launcher> CreateFarmLauncher(const FarmLaunch& launch,
                                             std::function<absl::StatusOr<Ticket>()> ticket,
                                             LaunchCallbacks callbacks) {
  if (launch.kind.empty()) return nullptr;
  const auto ticket_of_machines = [ticket = std::move(ticket),
                                   path = launch.shared_path]() -> absl::StatusOr<Ticket> {
    ASSIGN_OR_RETURN(Ticket made, ticket());
    made.shared_path = path;
    return made;
  };
  if (launch.kind == "ssh") {
    return CreateSshLauncher({.hosts = launch.hosts,
                              .arguments = launch.arguments,
                              .worker = launch.worker,
                              .ticket = ticket_of_machines,
                              .forward = launch.forward},
                             std::move(callbacks));
  }
  return CreateBatchLauncher(
      SystemOf(launch),
      {.folder = launch.folder, .project = launch.project, .ticket = ticket_of_machines},
      std::move(callbacks));
}

}  // namespace galley::director
