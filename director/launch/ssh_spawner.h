// SshSpawner: the launcher that reaches machines through ssh, with one connection and one worker
// for each machine. The ticket is the first line of the worker's standard input; the worker ends
// when its input ends, with the connection or with this process.
//
// With `forward` the worker attaches through the connection, at a Unix socket on its machine that
// ssh forwards to the director: only the worker's user can reach the socket, and the director needs
// no open port.
//
// At most kConnectsMax connections are begun in a second, because sshd refuses more (MaxStartups).
// A machine whose worker failed soon after its start gets no worker for a while, longer each time.
// Source: ssh(1), ssh_config(5) and sshd_config(5) of OpenSSH 9.2.
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

struct SshOptions {
  std::vector<FarmHost> hosts;
  std::vector<std::string> arguments;  // arguments of ssh, before ours
  RemoteWorker worker;                 // `slots` is not used: FarmHost has its own
  // Makes a worker's ticket, without token and names.
  std::function<absl::StatusOr<Ticket>()> ticket;
  bool forward = false;  // ticket.director is an address of this machine
};

inline constexpr int kConnectsMax = 8;

std::unique_ptr<Launcher> CreateSshLauncher(SshOptions options, LaunchCallbacks callbacks);

}  // namespace galley::director
