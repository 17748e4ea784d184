// FarmPlan: what a project's [farm] says of workers on other machines, with the files that it names
// read.
#pragma once

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/core/cook_core.h"
#include "director/launch/farm_launcher.h"

namespace galley::director {

struct FarmPlan {
  FarmLaunch launch;   // kind empty: no worker is launched on other machines
  FleetOptions fleet;  // likewise: max 0
  std::string listen;  // where they attach: [farm] listen, or what the launcher needs
};

// INVALID_ARGUMENT: what [farm] says cannot be done, and what to do.
absl::StatusOr<FarmPlan> FarmPlanOf(const project::Project& project);

}  // namespace galley::director
