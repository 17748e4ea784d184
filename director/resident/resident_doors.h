// ResidentDoors: lets clients, cooks and workers in, from the opening of a director until its end.
//
// Threads: Withdraw and LookAtCertificates: one; the other functions: as the parts say.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "director/host/cook_admission.h"
#include "director/host/director.h"
#include "director/host/director_meter.h"
#include "director/serve/client_calls.h"
#include "director/serve/client_door.h"
#include "director/serve/director_door.h"
#include "director/shell/figures_board.h"
#include "director/shell/trace.h"

namespace galley::director {

struct ResidentDoors {
  struct Deps {
    Director& director;
    ClientCalls& resident;  // answers clients
    bool is_hosted;         // by a command: clients may ask only for the status
    std::string listen;     // address for clients of other machines, "host:port"; empty: none
    Trace& trace;
    FiguresBoard& figures;
    std::string version;  // of this build
  };
  // Opens the doors: from then on clients may ask. Errors: outcome_status.h.
  static absl::StatusOr<std::unique_ptr<ResidentDoors>> Open(const Deps& deps);
  ~ResidentDoors() { Close(); }

  // Ends all calls, and the workers, before the door goes. Calls that are under way may use
  // `admission` and `meter` meanwhile.
  void Close();

  std::string client_address() const { return clients == nullptr ? "" : clients->address(); }
  void LookAtCertificates() {
    if (clients != nullptr) clients->LookAtCertificates();
  }
  // Lets nobody find this director any more; calls go on.
  void Withdraw();

  std::unique_ptr<DirectorDoor> door;
  CookAdmission admission;
  const std::string client_address_file;
  std::unique_ptr<TcpDoor> clients;  // null: only clients of this machine
  DirectorMeter meter;

 private:
  ResidentDoors(const Deps& deps, std::unique_ptr<DirectorDoor> opened,
                std::unique_ptr<TcpDoor> opened_to_clients);
};

}  // namespace galley::director
