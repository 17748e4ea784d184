// RepairAnimations: mends animations that break a rule of glTF and can still be played.
#pragma once

#include <string>

#include "worker/cookers/mesh/scene.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Removes channels with the same target as an earlier channel, channels of weights that move
// nothing, and then animations without channels; brings rotations to length 1, except in cubic
// splines. Warns of repairs and oddities. REQUIRES: scene.streams has all accessors of animations,
// and every channel has a path and a sampler of its animation.
void RepairAnimations(Scene& scene, Warnings& warnings);

}  // namespace galley::worker::mesh
