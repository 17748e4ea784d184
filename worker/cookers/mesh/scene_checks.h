// Scene checks: parts of a scene must agree with each other. INVALID_ARGUMENT names the place.
#pragma once

#include "absl/status/status.h"
#include "worker/cookers/mesh/scene.h"

namespace galley::worker::mesh {

// Checks that the joints of a mesh's vertices are joints of each skin that a node shows the mesh
// with.
absl::Status CheckJoints(const Scene& scene);

// Checks that keys are not negative and rise, and that values have the type of the channel's path
// and are as many as the keys: three for each key with CUBICSPLINE, and for weights as many for
// each key as there are morph targets.
absl::Status CheckAnimations(const Scene& scene);

}  // namespace galley::worker::mesh
