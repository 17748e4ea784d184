#include "director/core/jobs/job_layer.h"

namespace galley::director {
namespace {

WorkersOptions WorkersOptionsOf(const CookOptions& options) {
  return {.window = options.window,
          .jobs_max = options.window_jobs_max,
          .silence_max = options.silence_max,
          .start_max = options.start_max,
          .survivor_max = options.survivor_max,
          .suspect_after = options.suspect_after,
          .lost_max = options.unheard_max};
}

}  // namespace

JobLayer::JobLayer(PackageLayer& package_layer)
    : packages(package_layer),
      worker_table(WorkersOptionsOf(package_layer.options)),
      grants(package_layer.options.resources) {}

}  // namespace galley::director
