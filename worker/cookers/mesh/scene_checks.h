// Checks of what parts of a scene must have in common; INVALID_ARGUMENT names the place.
#pragma once

#include "absl/status/status.h"
#include "worker/cookers/mesh/scene.h"

namespace galley::worker::mesh {

// Joints of a mesh's vertices are joints of each skin that a node shows it with.
absl::Status CheckJoints(const Scene& scene);

// Keys are not negative and rise; values are of the type that the channel's path has, and as many
// as there are keys (three for each with CUBICSPLINE; weights: for each morph target).
absl::Status CheckAnimations(const Scene& scene);

}  // namespace galley::worker::mesh
