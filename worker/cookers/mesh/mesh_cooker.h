// The mesh cooker: gltf, glb -> ".glb", and levels of detail ".d/lod1.glb", ... What is done, kept
// and refused: docs/cookers/mesh.md.
//
// Load reads the source with its external buffers (each observed as file(path)) and takes the
// textures out: external images are hard references, embedded ones generated packages. Cook does
// the geometry, once for all platforms, none of which is looked at.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateMeshCooker();

}  // namespace galley::worker
