// ResidentDoors: the doors of a director for clients, workers and devices, the admission of its
// cooks, and the world that its devices see.
//
// Threads: one; `admission`, `present_world` and `meter`: any.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "director/host/cook_admission.h"
#include "director/host/director.h"
#include "director/host/director_meter.h"
#include "director/resident/device_door.h"
#include "director/resident/present_world.h"
#include "director/resident/project_reader.h"
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
    std::string version;               // of this build
    ProjectReader* project = nullptr;  // null: no devices are served
    // PresentWorld::Deps::changed.
    std::function<void(const WorldPtr& world)> world_changed = nullptr;
  };
  // Opened: the open doors. Clients may call from now on, while the other parts are constructed.
  // Destroying a door waits for its calls: hold no lock that a call may wait for.
  struct Opened {
    std::unique_ptr<DirectorDoor> door;
    std::unique_ptr<TcpDoor> clients;         // null: only clients of this machine
    std::unique_ptr<DeviceDoor> device_door;  // null: no HTTP
  };
  // Opens the doors into `opened`; after an error `opened` may hold a part of them. Errors:
  // outcome_status.h.
  static absl::Status Open(const Deps& deps, Opened& opened);
  ResidentDoors(const Deps& deps, Opened opened);
  ~ResidentDoors() { Close(); }

  // Ends the requests of devices and the calls of other machines, then the world of devices and the
  // workers, then the calls at `door`. Running calls may use `admission` and `meter` meanwhile.
  void Close();
  // No device is served any more.
  void EndDevices() {
    if (present_world != nullptr) present_world->End();
  }

  std::string client_address() const { return clients == nullptr ? "" : clients->address(); }
  // The URL for devices; empty: none.
  std::string device_url() const { return device_door == nullptr ? "" : device_door->url(); }
  // Looks at certificates and open files. Called each second.
  void Look() {
    if (clients != nullptr) clients->LookAtCertificates();
    if (device_door != nullptr) device_door->Look();
  }
  // Removes the socket and the address files, so that nobody finds this director any more. Calls go
  // on.
  void RemoveSocket();

  std::unique_ptr<DirectorDoor> door;
  CookAdmission admission;
  const std::string client_address_file;
  std::unique_ptr<TcpDoor> clients;  // null: only clients of this machine
  // Null: no HTTP. Stays until the end, since calls at `door` ask it for figures.
  const std::unique_ptr<DeviceDoor> device_door;
  DirectorMeter meter;
  SystemClock clock;
  std::unique_ptr<PresentWorld> present_world;  // null: no devices are served
};

}  // namespace galley::director
