// The passes over a scene's geometry, in their order.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/cookers/mesh/scene.h"

namespace galley::worker::mesh {

// TANGENT where the material has a normal map and the primitive none. `texcoords`: by material,
// from NormalMapTexcoords; materials of variants count, too. REQUIRES: before QuantizeScene.
void AddTangents(Scene& scene, const std::vector<uint64_t>& texcoords,
                 std::vector<std::string>& warnings);
// Small formats, and the nodes and matrices that undo the positions' grids. INVALID_ARGUMENT:
// inverse bind matrices that would become infinite.
absl::Status QuantizeScene(Scene& scene, std::vector<std::string>& warnings);
// Equal vertices are one, triangles and vertices lie in a good order.
void OptimizeScene(Scene& scene);
// The same scene with fewer triangles. REQUIRES: after OptimizeScene.
Scene SimplifiedScene(const Scene& scene, double ratio, double error_max);

}  // namespace galley::worker::mesh
