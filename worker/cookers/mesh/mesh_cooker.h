// Mesh: the cooker for gltf and glb. Outputs are ".glb", and levels of detail ".d/lod1.glb", ...
// docs/cookers/mesh.md says what is done, kept and refused.
//
// Load reads the source with its external buffers (each observed as file(path)) and takes the
// textures out: external images become hard references, embedded images generated packages. Cook
// does the geometry, once for all platforms, since no platform is looked at.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateMeshCooker();

}  // namespace galley::worker
