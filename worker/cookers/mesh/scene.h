// Scene: a glTF file with its geometry apart: what passes work on, and what is written.
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
  // All but accessors and buffers; where it names an accessor, the number is that of the source.
  Json json;
  std::vector<MeshData> meshes;
  // By accessor of the source: what animations and instances read.
  std::map<size_t, Stream> streams;
  // By skin; nullopt: identities.
  std::vector<std::optional<Stream>> inverse_binds;
  // The part of the budget that reading has left.
  MemoryBudget budget;
};

// Reads all that the scene needs out of the document, whose JSON is moved away. INVALID_ARGUMENT
// names the place.
absl::StatusOr<Scene> ReadScene(Document& document);

// The GLB. `with_animations` false leaves them out. What no member of the JSON names is not
// written.
absl::StatusOr<std::string> WriteScene(const Scene& scene, bool with_animations);

// Triangles and vertices of all primitives, each mesh once.
struct Totals {
  size_t triangles = 0;
  size_t vertices = 0;
};
Totals CountGeometry(const std::vector<MeshData>& meshes);

// The box around what the default scene (the first, if none is named; all nodes, if there are none)
// shows at rest: "x y z x y z", least and greatest. Skinned meshes as they were modelled, morph
// targets at zero. nullopt: it shows nothing, or passes the range of a float.
std::optional<std::string> BoundsText(const Scene& scene);

}  // namespace galley::worker::mesh
