#include "director/shell/shared_tables.h"

#include <string>
#include <utility>

namespace galley::director {

SharedTables::SharedTables(const ShellGround& ground, PresentSources sources)
    : attached(ground.options.farm_launch.kind),
      views([trace = &ground.trace, clock = &ground.clock](
                const std::string& name, const std::string& state, const std::string& machine) {
        trace->WorkerIs(name, state, machine, clock->Now());
      }),
      reports({.sources = std::move(sources),
               .store = &ground.store,
               .results = &results,
               .trace = &ground.trace,
               .machine_of = [this](const std::string& worker) { return views.MachineOf(worker); },
               .now = [clock = &ground.clock] { return clock->Now(); },
               .to_our_clock =
                   [this, clock = &ground.clock](const std::string& worker, int64_t us) {
                     return absl::ToUnixMicros(
                         clocks.ToOurs(worker, absl::FromUnixMicros(us), clock->Now()));
                   }},
              ground.options.look_up.trust_domain,
              {ground.options.memory_bytes_default, ground.options.timeout_default}) {}

void SharedTables::ForgetWorker(const std::string& worker) {
  attached.Remove(worker);
  views.Gone(worker);
  clocks.Forget(worker);
}

}  // namespace galley::director
