#include "worker/cookers/mesh/node_repairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "fmt/format.h"
#include "worker/cookers/mesh/vector3.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

// The validator's tolerance for the length of four numbers that should have length 1.
constexpr double kRotationLengthOff = 0.00769;
// How far, as a part of their lengths, the axes of a matrix may be from right angles.
constexpr double kSkewMax = 1e-4;

void RepairRotation(Json& node, const std::string& pointer, Warnings& warnings) {
  const Json* rotation = Array(node, "rotation");
  if (rotation == nullptr || rotation->size() != 4) return;
  double square = 0;
  for (const Json& each : *rotation) square += each.get<double>() * each.get<double>();
  const double length = std::sqrt(square);
  if (std::abs(length - 1) <= kRotationLengthOff) return;
  if (!(length > 1e-150) || !std::isfinite(length)) {
    node.erase("rotation");
    warnings.AddRepair(
        "{}/rotation: the quaternion has no length; it is left out (ROTATION_NON_UNIT)", pointer);
    return;
  }
  for (Json& each : node["rotation"]) each = each.get<double>() / length;
  warnings.AddRepair(
      "{}/rotation: the quaternion is not of length 1; it is brought to it (ROTATION_NON_UNIT)",
      pointer);
}

// Whether a translation, a rotation and a scale can make this matrix.
bool IsTrs(const Json& matrix) {
  std::array<double, 16> m;
  for (size_t i = 0; i < 16; ++i) m[i] = matrix[i].get<double>();
  if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1) return false;
  const Vector3 axes[] = {{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}};
  if (Dot(Cross(axes[0], axes[1]), axes[2]) == 0) return false;
  for (size_t i = 0; i < 3; ++i) {
    if (std::abs(Dot(Normalized(axes[i]), Normalized(axes[(i + 1) % 3]))) > kSkewMax) return false;
  }
  return true;
}

void RepairMatrix(Json& node, const std::string& pointer, Warnings& warnings) {
  const Json* matrix = Array(node, "matrix");
  if (matrix == nullptr) return;
  size_t erased = 0;
  for (const char* key : {"translation", "rotation", "scale"}) erased += node.erase(key);
  if (erased > 0) {
    warnings.AddRepair(
        "{}: has a matrix, and translation, rotation or scale, too; the matrix counts, and they "
        "are left out (NODE_MATRIX_TRS)",
        pointer);
  }
  if (!IsTrs(node["matrix"])) {
    warnings.Add(
        "{}/matrix: no translation, rotation and scale make this matrix; it stays as it is "
        "(NODE_MATRIX_NON_TRS)",
        pointer);
  }
}

// The span that holds all joints.
struct Span {
  size_t begin = 0;
  size_t last = 0;
};
Span SpanOf(const Json& joints, const NodeForest& forest) {
  Span span{.begin = forest.size(), .last = 0};
  for (const Json& joint : joints) {
    const size_t begin = forest.begin(joint.get<size_t>());
    span.begin = std::min(span.begin, begin);
    span.last = std::max(span.last, begin);
  }
  return span;
}

void RepairSkin(Json& skin, const NodeForest& forest, const std::string& pointer,
                Warnings& warnings) {
  const Json* joints = Array(skin, "joints");
  if (joints == nullptr || joints->empty()) return;
  const Span span = SpanOf(*joints, forest);
  const size_t root = forest.RootOf((*joints)[0].get<size_t>());
  const auto holds = [&](size_t node) {
    return forest.begin(node) <= span.begin && span.last < forest.end(node);
  };
  if (!holds(root)) {
    warnings.Add(
        "{}/joints: the joints have no root in common; the skin stays as it is "
        "(SKIN_NO_COMMON_ROOT)",
        pointer);
  }
  if (const Json* skeleton = Member(skin, "skeleton");
      skeleton != nullptr && !holds(skeleton->get<size_t>())) {
    skin.erase("skeleton");
    warnings.AddRepair(
        "{}/skeleton: not all joints are below this node; the member is left out "
        "(SKIN_SKELETON_INVALID)",
        pointer);
  }
  std::set<size_t> seen;
  for (const Json& joint : *joints) {
    if (seen.insert(joint.get<size_t>()).second) continue;
    warnings.Add("{}/joints: a node is a joint twice; the skin stays as it is (DUPLICATE_ELEMENTS)",
                 pointer);
    return;
  }
}

// The scenes that name each root.
std::vector<std::set<size_t>> ScenesOfRoots(const Json& json, const NodeForest& forest) {
  std::vector<std::set<size_t>> scenes(forest.size());
  for (size_t i = 0; i < ArraySize(json, "scenes"); ++i) {
    const Json* nodes = Array(json["scenes"][i], "nodes");
    if (nodes == nullptr) continue;
    for (const Json& node : *nodes) scenes[forest.RootOf(node.get<size_t>())].insert(i);
  }
  return scenes;
}

void CheckScenesOfSkins(const Json& json, const NodeForest& forest, Warnings& warnings) {
  if (ArraySize(json, "skins") == 0) return;
  const std::vector<std::set<size_t>> scenes = ScenesOfRoots(json, forest);
  for (size_t i = 0; i < forest.size(); ++i) {
    const Json* skin = Member(json["nodes"][i], "skin");
    if (skin == nullptr) continue;
    const Json* joints = Array(json["skins"][skin->get<size_t>()], "joints");
    if (joints == nullptr || joints->empty()) continue;
    const size_t own = forest.RootOf(i);
    const size_t other = forest.RootOf((*joints)[0].get<size_t>());
    if (own == other || std::ranges::includes(scenes[other], scenes[own])) {
      continue;
    }
    warnings.Add(
        "/nodes/{}/skin: a scene shows this node, and not the skin's joints; the node stays as it "
        "is (NODE_SKIN_NO_SCENE)",
        i);
  }
}

}  // namespace

void RepairNodes(Json& json, Warnings& warnings) {
  for (size_t i = 0; i < ArraySize(json, "nodes"); ++i) {
    Json& node = json["nodes"][i];
    const std::string pointer = fmt::format("/nodes/{}", i);
    RepairMatrix(node, pointer, warnings);
    RepairRotation(node, pointer, warnings);
    for (const char* key : {"skin", "weights"}) {
      if (Member(node, "mesh") != nullptr || node.erase(key) == 0) continue;
      warnings.AddRepair(
          "{}/{}: the node has no mesh; the member is left out (UNSATISFIED_DEPENDENCY)", pointer,
          key);
    }
  }
}

void RepairSkins(Json& json, const NodeForest& forest, Warnings& warnings) {
  for (size_t i = 0; i < ArraySize(json, "skins"); ++i)
    RepairSkin(json["skins"][i], forest, fmt::format("/skins/{}", i), warnings);
  CheckScenesOfSkins(json, forest, warnings);
}

}  // namespace galley::worker::mesh
