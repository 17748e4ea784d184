// The repair of animations that break a rule of glTF and can still be played.
#pragma once

#include <string>
#include <vector>

#include "worker/cookers/mesh/scene.h"

namespace galley::worker::mesh {

// Takes out channels that move what another one moves, and channels of weights that move nothing,
// then animations without channels; brings rotations to length 1. Tells that, and what is odd.
// REQUIRES: all accessors of animations are in scene.streams, and channels have a path and a
// sampler of their animation.
void RepairAnimations(Scene& scene, std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
