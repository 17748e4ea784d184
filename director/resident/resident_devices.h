// ResidentDevices: the devices of a resident director: its present world as they ask for it, the
// service that answers them, and the threads of that service.
//
// Threads: Serve and Stop: one; others: any.
#pragma once

#include <memory>
#include <optional>

#include "director/host/director.h"
#include "director/resident/cook_ahead.h"
#include "director/resident/device_service.h"
#include "director/resident/device_threads.h"
#include "director/resident/director_project.h"
#include "director/resident/resident_doors.h"
#include "director/resident/store_size.h"
#include "director/shell/result_table.h"

namespace galley::director {

class ResidentDevices {
 public:
  // Both outlive this object.
  ResidentDevices(Director& director, StoreSize& store_size)
      : director_(director), store_size_(store_size), present_(director) {}

  // Begins to serve devices. `doors` outlive all calls; Stop is called before their present world
  // ends. REQUIRES: `doors` have a present world; no call yet.
  void Serve(ResidentDoors& doors);
  // Answers all who wait. Later calls are refused. Does nothing when no devices are served.
  void Stop();

  // PresentWorld::Deps::changed. May come before Serve.
  void NoteChange() { present_.NoteChange(); }
  // DeviceService::NoteCooked, if devices are served.
  void NoteCooked(const StoredResultPtr& result) {
    if (service_ != nullptr) service_->NoteCooked(result);
  }
  // nullptr: no devices are served.
  DeviceCalls* calls() { return service_.get(); }
  // nullopt: no devices are served, or nothing is cooked ahead for them.
  std::optional<AheadFigures> ahead() const {
    return service_ == nullptr ? std::nullopt : service_->ahead();
  }

 private:
  CookAhead::Settings SettingsOfAhead(ResidentDoors& doors);

  Director& director_;
  StoreSize& store_size_;
  DirectorProject present_;
  OwnDeviceThreads threads_;
  std::unique_ptr<DeviceService> service_;  // nullptr: no devices are served
};

}  // namespace galley::director
