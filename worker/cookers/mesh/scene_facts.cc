// Scene facts: what the registry is told about a scene.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "worker/cookers/mesh/scene.h"
#include "worker/cookers/mesh/vector3.h"

namespace galley::worker::mesh {
namespace {

// Column after column, without the last row (0, 0, 0, 1): three axes and the translation.
using Transform = std::array<Vector3, 4>;
constexpr Transform kIdentity = {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}, Vector3{}};

Vector3 Apply(const Transform& transform, Vector3 p) {
  return transform[0] * p.x + transform[1] * p.y + transform[2] * p.z + transform[3];
}

Transform Product(const Transform& outer, const Transform& inner) {
  Transform product;
  for (size_t i = 0; i < 3; ++i) product[i] = Apply(outer, inner[i]) - outer[3];
  product[3] = Apply(outer, inner[3]);
  return product;
}

double NumberAt(const Json* array, size_t index, double otherwise) {
  if (array == nullptr || array->size() <= index || !(*array)[index].is_number()) return otherwise;
  return (*array)[index].get<double>();
}

Transform TransformOf(const Json& node) {
  if (const Json* matrix = Array(node, "matrix"); matrix != nullptr) {
    Transform transform;
    for (size_t i = 0; i < 4; ++i) {
      transform[i] = {NumberAt(matrix, i * 4, 0), NumberAt(matrix, i * 4 + 1, 0),
                      NumberAt(matrix, i * 4 + 2, 0)};
    }
    return transform;
  }
  const Json* translation = Array(node, "translation");
  const Json* rotation = Array(node, "rotation");
  const Json* scale = Array(node, "scale");
  const double x = NumberAt(rotation, 0, 0);
  const double y = NumberAt(rotation, 1, 0);
  const double z = NumberAt(rotation, 2, 0);
  const double w = NumberAt(rotation, 3, 1);
  return {Vector3{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)} *
              NumberAt(scale, 0, 1),
          Vector3{2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)} *
              NumberAt(scale, 1, 1),
          Vector3{2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)} *
              NumberAt(scale, 2, 1),
          Vector3{NumberAt(translation, 0, 0), NumberAt(translation, 1, 0),
                  NumberAt(translation, 2, 0)}};
}

bool IsFloat(Vector3 p) {
  constexpr double kMax = std::numeric_limits<float>::max();
  // False also for NaN.
  return std::abs(p.x) <= kMax && std::abs(p.y) <= kMax && std::abs(p.z) <= kMax;
}

struct Box {
  Vector3 min;
  Vector3 max;
  bool is_empty = true;
  bool is_float = true;  // whether all points are within float's range

  void Add(Vector3 p) {
    is_float = is_float && IsFloat(p);
    min = is_empty ? p : Vector3{std::min(min.x, p.x), std::min(min.y, p.y), std::min(min.z, p.z)};
    max = is_empty ? p : Vector3{std::max(max.x, p.x), std::max(max.y, p.y), std::max(max.z, p.z)};
    is_empty = false;
  }
};

Box BoxOf(const MeshData& mesh) {
  Box box;
  for (const Primitive& primitive : mesh.primitives) {
    const Stream& positions = primitive.Find("POSITION")->stream;
    for (size_t i = 0; i < positions.count; ++i) box.Add(VectorAt(positions, i));
  }
  return box;
}

void AddCorners(const Box& box, const Transform& transform, Box& target) {
  for (int corner = 0; corner < 8; ++corner) {
    target.Add(Apply(transform, {(corner & 1) != 0 ? box.max.x : box.min.x,
                                 (corner & 2) != 0 ? box.max.y : box.min.y,
                                 (corner & 4) != 0 ? box.max.z : box.min.z}));
  }
}

// The roots of the nodes that are shown.
std::vector<size_t> RootsOf(const Json& json) {
  std::vector<size_t> roots;
  const Json* scenes = Array(json, "scenes");
  if (scenes != nullptr && !scenes->empty()) {
    const Json* named = Member(json, "scene");
    const Json& scene = (*scenes)[named == nullptr ? 0 : named->get<size_t>()];
    if (const Json* nodes = Array(scene, "nodes"); nodes != nullptr) {
      for (const Json& node : *nodes) roots.push_back(node.get<size_t>());
    }
    return roots;
  }
  std::vector<bool> is_child(ArraySize(json, "nodes"), false);
  for (size_t i = 0; i < is_child.size(); ++i) {
    const Json* children = Array(json["nodes"][i], "children");
    if (children == nullptr) continue;
    for (const Json& child : *children) is_child[child.get<size_t>()] = true;
  }
  for (size_t i = 0; i < is_child.size(); ++i) {
    if (!is_child[i]) roots.push_back(i);
  }
  return roots;
}

}  // namespace

Totals CountGeometry(const std::vector<MeshData>& meshes) {
  Totals totals;
  for (const MeshData& mesh : meshes) {
    for (const Primitive& primitive : mesh.primitives) {
      totals.vertices += primitive.vertex_count;
      if (primitive.is_triangles()) totals.triangles += primitive.indices.size() / 3;
    }
  }
  return totals;
}

std::optional<std::string> BoundsText(const Scene& scene) {
  std::vector<Box> boxes;
  for (const MeshData& mesh : scene.meshes) boxes.push_back(BoxOf(mesh));
  struct Visit {
    size_t node;
    Transform parent;
  };
  std::vector<Visit> open;
  for (const size_t root : RootsOf(scene.json)) open.push_back({root, kIdentity});
  Box shown;
  while (!open.empty()) {
    const Visit visit = open.back();
    open.pop_back();
    const Json& node = scene.json["nodes"][visit.node];
    const Transform transform = Product(visit.parent, TransformOf(node));
    if (const Json* mesh = Member(node, "mesh"); mesh != nullptr) {
      const bool is_skinned = Member(node, "skin") != nullptr;
      AddCorners(boxes[mesh->get<size_t>()], is_skinned ? kIdentity : transform, shown);
    }
    if (const Json* children = Array(node, "children"); children != nullptr) {
      for (const Json& child : *children) open.push_back({child.get<size_t>(), transform});
    }
  }
  if (shown.is_empty || !shown.is_float) return std::nullopt;
  // Written as floats: further digits would only be rounding.
  const auto text = [](Vector3 p) {
    return fmt::format("{} {} {}", static_cast<float>(p.x), static_cast<float>(p.y),
                       static_cast<float>(p.z));
  };
  return fmt::format("{} {}", text(shown.min), text(shown.max));
}

}  // namespace galley::worker::mesh
