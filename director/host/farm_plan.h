// FarmPlan: the configuration of workers on other machines, from a project's [farm] section and the
// files that it names.
#pragma once

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/core/cook_core.h"
#include "director/launch/farm_launcher.h"

namespace galley::director {

struct FarmPlan {
  FarmLaunch launch;   // kind empty: no worker is launched on other machines
  FleetOptions fleet;  // max 0: no worker is launched on other machines
  std::string listen;  // where workers attach: [farm] listen, or what the launcher needs
};

// INVALID_ARGUMENT: [farm] is invalid; the text says what to do.
absl::StatusOr<FarmPlan> FarmPlanOf(const project::Project& project);

}  // namespace galley::director
