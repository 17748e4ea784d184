// Mesh passes: the passes over a scene's geometry, in their order.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/cookers/mesh/scene.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Adds TANGENT to primitives without it whose material has a normal map. `texcoords`: by material,
// from TakeTextures; materials of variants count, too. OUT_OF_RANGE: the normals that the tangents
// need would exceed the scene's budget. REQUIRES: called before QuantizeScene.
absl::Status AddTangents(Scene& scene, const std::vector<uint64_t>& texcoords, Warnings& warnings);
// Gives attributes small formats, and undoes the positions' grids by nodes and matrices.
// INVALID_ARGUMENT: inverse bind matrices would become infinite.
absl::Status QuantizeScene(Scene& scene, Warnings& warnings);
// Called instead of QuantizeScene. Formats stay; weights get the sum 1, and directions a length.
void NormalizeScene(Scene& scene, Warnings& warnings);
// Joins equal vertices, and puts triangles and vertices in a good order.
void OptimizeScene(Scene& scene);

// LevelMaker makes the levels of detail of a scene. Each level is made from the whole scene, so
// that errors do not add up. A primitive that would have no triangles, or no fewer than in the
// previous level, is taken from the previous level: the number of triangles never rises. Where
// primitives of a mesh touch, their borders stay, so that levels do not tear open there.
class LevelMaker {
 public:
  // REQUIRES: called after OptimizeScene; `whole` outlives the LevelMaker.
  LevelMaker(const Scene& whole, double error_max);

  // The scene with about `ratio` of its triangles; valid until the next call. REQUIRES: ratios
  // fall.
  const Scene& Next(double ratio);

 private:
  const Scene& whole_;
  const double error_max_;
  std::vector<std::vector<bool>> locked_;  // by mesh and primitive
  Scene level_;
};

}  // namespace galley::worker::mesh
