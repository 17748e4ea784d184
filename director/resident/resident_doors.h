// ResidentDoors: lets clients, cooks and workers in, from the opening of a director until its end.
//
// Threads: one. Calls that come meanwhile use `admission` and `meter`, which take any thread.
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
  // Opened: the doors at which clients ask from now on, also while the other parts are made. The
  // end of a door waits for its calls: no lock that a call waits for may be held then.
  struct Opened {
    std::unique_ptr<DirectorDoor> door;
    std::unique_ptr<TcpDoor> clients;  // null: only clients of this machine
  };
  // Opens the doors into `opened`, also some of them when it fails. Errors: outcome_status.h.
  static absl::Status Open(const Deps& deps, Opened& opened);
  ResidentDoors(const Deps& deps, Opened opened);
  ~ResidentDoors() { Close(); }

  // Ends the calls of other machines, then the workers, then the calls at `door`. Calls that are
  // under way may use `admission` and `meter` meanwhile.
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
};

}  // namespace galley::director
