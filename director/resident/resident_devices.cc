#include "director/resident/resident_devices.h"

#include <cstdint>
#include <memory>

namespace galley::director {

void ResidentDevices::Serve(ResidentDoors& doors) {
  present_.Attach(*doors.present_world);
  const project::StoreSection& store = director_.project().store;
  service_ = std::make_unique<DeviceService>(DeviceService::Deps{
      .present = present_,
      .store = director_.stores().store(),
      .journal = director_.journal(),
      .remaker = director_.remaker(),
      .kept = director_.kept_sources(),
      .threads = threads_,
      .trust_domain = store.trust,
      .read_trust = store.read_trust,
      .sessions = {.project = director_.project_id(), .changes = {.term = director_.term()}},
      .ahead = SettingsOfAhead(doors)});
  present_.SetListener([this] { service_->NoteWorld(); });
  service_->NoteWorld();  // the world may have come before the listener
}

CookAhead::Settings ResidentDevices::SettingsOfAhead(ResidentDoors& doors) {
  return {.is_on = director_.project().director.ahead,
          .store_bytes_max = director_.project().store.size_bytes_max,
          .slots =
              [&doors] {
                uint64_t slots = 0;
                const std::shared_ptr<DirectorShell> shell = doors.admission.shell();
                if (shell == nullptr) return slots;
                for (const WorkerStatus& worker : shell->Workers()) slots += worker.slots;
                return slots;
              },
          .store_bytes = [this] { return store_size_.AskForBytes(); }};
}

void ResidentDevices::Stop() {
  if (service_ == nullptr) return;
  present_.SetListener(nullptr);
  service_->Stop();
}

}  // namespace galley::director
