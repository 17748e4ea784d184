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

std::string AddressFileOf(const ResidentDoors::Deps& deps) {
  return JoinPath(deps.director.project().state_directory(), "client-address");
}

}  // namespace

ResidentDoors::ResidentDoors(const Deps& deps, Opened opened)
    : door(std::move(opened.door)),
      admission({.director = deps.director,
                 .trace = deps.trace,
                 .door = door.get(),
                 .figures = &deps.figures}),
      client_address_file(AddressFileOf(deps)),
      clients(std::move(opened.clients)),
      device_door(std::move(opened.device_door)),
      meter({.director = deps.director,
             .admission = admission,
             .board = deps.figures,
             .version = deps.version}) {
  if (deps.project == nullptr) return;
  present_world = std::make_unique<PresentWorld>(PresentWorld::Deps{.director = deps.director,
                                                                    .admission = admission,
                                                                    .project = *deps.project,
                                                                    .clock = clock,
                                                                    .changed = deps.world_changed});
}

absl::Status ResidentDoors::Open(const Deps& deps, Opened& opened) {
  auto door = DirectorDoor::Open(SocketOf(deps.director.project()),
                                 deps.is_hosted ? nullptr : &deps.resident,
                                 deps.is_hosted ? &deps.resident : nullptr);
  if (!door.ok()) return Infrastructure(door.status());
  opened.door = *std::move(door);
  ASSIGN_OR_RETURN(opened.clients, ListenToClients(deps, *opened.door));
  if (!deps.is_hosted) {
    ASSIGN_OR_RETURN(opened.device_door,
                     DeviceDoor::Open(deps.director.project(), deps.director.stores().store()));
  }
  if (opened.clients == nullptr) return absl::OkStatus();
  LogInfo("clients address={}", opened.clients->address());
  return WriteFileAtomic(AddressFileOf(deps), opened.clients->address() + "\n");
}

void ResidentDoors::Close() {
  if (device_door != nullptr) device_door->Close();
  if (clients != nullptr) {
    ::unlink(client_address_file.c_str());
    clients->Close();
    clients.reset();
  }
  EndDevices();
  admission.Close();
  door.reset();
}

void ResidentDoors::RemoveSocket() {
  door->RemoveSocket();
  if (clients != nullptr) ::unlink(client_address_file.c_str());
  if (device_door != nullptr) device_door->Close();
}

}  // namespace galley::director
