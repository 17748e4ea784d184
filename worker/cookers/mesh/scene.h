// Scene: a glTF file with its geometry taken apart: passes change it, and WriteScene writes it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/document.h"
#include "worker/cookers/mesh/placement.h"
#include "worker/cookers/mesh/primitive.h"
#include "worker/cookers/mesh/stream.h"

namespace galley::worker::mesh {

struct Scene {
  // Everything but accessors and buffers; numbers of accessors are those of the source.
  Json json;
  std::vector<MeshData> meshes;
  // By accessor of the source: the values that animations and instances read.
  std::map<size_t, Stream> streams;
  // By skin; nullopt: identities.
  std::vector<std::optional<Stream>> inverse_binds;
  // The budget that is left after reading.
  MemoryBudget budget;
};

// Reads all parts of the scene, and moves the document's JSON into it. INVALID_ARGUMENT names the
// place of the flaw.
absl::StatusOr<Scene> ReadScene(Document& document);

// The GLB, without animations if `with_animations` is false. Data that no member of the JSON names
// is not written.
absl::StatusOr<std::string> WriteScene(const Scene& scene, bool with_animations);

// Triangles and vertices of all primitives, each mesh counted once.
struct Totals {
  size_t triangles = 0;
  size_t vertices = 0;
};
Totals CountGeometry(const std::vector<MeshData>& meshes);

// The box around what the default scene shows at rest, as "x y z x y z", least and greatest.
// Without a default scene, the first scene counts; without scenes, all nodes. Skinned meshes count
// as they were modelled, morph targets with weight 0. nullopt: the scene shows nothing, or passes
// float's range.
std::optional<std::string> BoundsText(const Scene& scene);

}  // namespace galley::worker::mesh
