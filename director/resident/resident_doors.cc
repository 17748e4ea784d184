#include "director/resident/resident_doors.h"

#include <unistd.h>

#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/host/outcome_status.h"

namespace galley::director {
namespace {

absl::StatusOr<std::unique_ptr<TcpDoor>> ListenToClients(const ResidentDoors::Deps& deps,
                                                         DirectorDoor& door) {
  if (deps.listen.empty()) return nullptr;
  const project::FarmSection& farm = deps.director.project().farm;
  auto clients = OpenClientDoor(
      {.address = deps.listen,
       .tls = {.certificate = farm.tls_cert, .key = farm.tls_key, .ca = farm.tls_ca}},
      deps.resident, door);
  if (clients.ok()) return clients;
  return absl::IsUnavailable(clients.status()) ? Infrastructure(clients.status())
                                               : WrongUse(clients.status());
}

}  // namespace

ResidentDoors::ResidentDoors(const Deps& deps, std::unique_ptr<DirectorDoor> opened,
                             std::unique_ptr<TcpDoor> opened_to_clients)
    : door(std::move(opened)),
      admission({.director = deps.director,
                 .trace = deps.trace,
                 .door = door.get(),
                 .figures = &deps.figures}),
      client_address_file(JoinPath(deps.director.project().state_directory(), "client-address")),
      clients(std::move(opened_to_clients)),
      meter({.director = deps.director,
             .admission = admission,
             .board = deps.figures,
             .version = deps.version}) {}

absl::StatusOr<std::unique_ptr<ResidentDoors>> ResidentDoors::Open(const Deps& deps) {
  auto door = DirectorDoor::Open(SocketOf(deps.director.project()),
                                 deps.is_hosted ? nullptr : &deps.resident,
                                 deps.is_hosted ? &deps.resident : nullptr);
  if (!door.ok()) return Infrastructure(door.status());
  ASSIGN_OR_RETURN(std::unique_ptr<TcpDoor> clients, ListenToClients(deps, **door));
  auto doors =
      std::unique_ptr<ResidentDoors>(new ResidentDoors(deps, *std::move(door), std::move(clients)));
  if (doors->clients != nullptr) {
    LogInfo("clients address={}", doors->client_address());
    RETURN_IF_ERROR(WriteFileAtomic(doors->client_address_file, doors->client_address() + "\n"));
  }
  return doors;
}

void ResidentDoors::Close() {
  if (clients != nullptr) {
    ::unlink(client_address_file.c_str());
    clients->Close();
    clients.reset();
  }
  admission.Close();
  door.reset();
}

void ResidentDoors::Withdraw() {
  door->Withdraw();
  if (clients != nullptr) ::unlink(client_address_file.c_str());
}

}  // namespace galley::director
