// The passes over a scene's geometry, in their order.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/cookers/mesh/scene.h"

namespace galley::worker::mesh {

// TANGENT where the material has a normal map and the primitive none. `texcoords`: by material,
// from TakeTextures; materials of variants count, too. OUT_OF_RANGE: normals that must
// be made for them take more than is left of the scene's budget. REQUIRES: before QuantizeScene.
absl::Status AddTangents(Scene& scene, const std::vector<uint64_t>& texcoords,
                         std::vector<std::string>& warnings);
// Small formats, and the nodes and matrices that undo the positions' grids. INVALID_ARGUMENT:
// inverse bind matrices that would become infinite.
absl::Status QuantizeScene(Scene& scene, std::vector<std::string>& warnings);
// Instead of QuantizeScene: the same formats, with weights that sum to 1 and directions that have a
// length.
void NormalizeScene(Scene& scene, std::vector<std::string>& warnings);
// Equal vertices are one, triangles and vertices lie in a good order.
void OptimizeScene(Scene& scene);

// LevelMaker makes the levels of detail of a scene. Each is made from the whole scene, so that
// errors do not add up; a primitive that would have no fewer triangles than in the level before, or
// none, is the one of that level: triangles never rise. Where primitives of a mesh touch, their
// borders stay, so that levels do not tear open there.
class LevelMaker {
 public:
  // REQUIRES: after OptimizeScene; `whole` outlives this.
  LevelMaker(const Scene& whole, double error_max);

  // The scene with about this part of its triangles. The next call changes it. REQUIRES: ratios
  // fall.
  const Scene& Next(double ratio);

 private:
  const Scene& whole_;
  const double error_max_;
  std::vector<std::vector<bool>> locked_;  // by mesh and primitive
  Scene level_;
};

}  // namespace galley::worker::mesh
