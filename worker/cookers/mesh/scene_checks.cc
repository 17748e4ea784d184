#include "worker/cookers/mesh/scene_checks.h"

#include <algorithm>
#include <optional>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker::mesh {
namespace {

// The greatest joint that a mesh names.
struct GreatestJoint {
  int64_t joint = 0;
  std::string pointer;
};
std::optional<GreatestJoint> FindGreatestJoint(const MeshData& mesh) {
  std::optional<GreatestJoint> greatest;
  for (const Primitive& primitive : mesh.primitives) {
    for (const Attribute& attribute : primitive.attributes) {
      if (!attribute.semantic.starts_with("JOINTS_")) continue;
      for (size_t i = 0; i < attribute.stream.count * 4; ++i) {
        const int64_t joint = attribute.stream.IntegerAt(i / 4, i % 4);
        if (greatest && joint <= greatest->joint) continue;
        greatest = {.joint = joint,
                    .pointer = primitive.pointer + "/attributes/" + attribute.semantic};
      }
    }
  }
  return greatest;
}

absl::Status CheckKeys(const Stream& keys, const std::string& pointer) {
  if (keys.format != Format{.component = Component::kFloat, .shape = Shape::kScalar})
    return Flaw(pointer, "expected a SCALAR of floats");
  for (size_t i = 0; i < keys.count; ++i) {
    if (keys.At(i, 0) < 0)
      return Flaw(pointer, fmt::format("key {} is negative: {}", i, keys.At(i, 0)));
    if (i > 0 && keys.At(i, 0) <= keys.At(i - 1, 0)) {
      return Flaw(pointer,
                  fmt::format("key {} is {}, and the one before it {}; expected rising ones", i,
                              keys.At(i, 0), keys.At(i - 1, 0)));
    }
  }
  return absl::OkStatus();
}

// Whether values for this path may have this format (glTF 2.0, 3.11).
bool IsAllowed(std::string_view path, const Format& format) {
  const bool is_float = format.component == Component::kFloat;
  if (path == "rotation") return format.shape == Shape::kVec4 && (is_float || format.is_normalized);
  if (path == "weights")
    return format.shape == Shape::kScalar && (is_float || format.is_normalized);
  return format.shape == Shape::kVec3 && is_float;  // translation, scale
}

// The number of weights that a key has; nullopt: the channel names no node, and moves nothing.
absl::StatusOr<std::optional<size_t>> CountWeights(const Scene& scene, const Json& target,
                                                   const std::string& pointer) {
  const Json* node = Member(target, "node");
  if (node == nullptr) return std::nullopt;
  const Json* mesh = Member(scene.json["nodes"][node->get<size_t>()], "mesh");
  const size_t count = mesh == nullptr ? 0 : scene.meshes[mesh->get<size_t>()].target_count;
  if (count == 0) return Flaw(pointer + "/target", "its node has no mesh with morph targets");
  return count;
}

absl::Status CheckChannel(const Scene& scene, const Json& animation, const Json& channel,
                          const std::string& pointer) {
  const Json& sampler = animation["samplers"][channel["sampler"].get<size_t>()];
  const Stream& output = scene.streams.at(sampler["output"].get<size_t>());
  const std::string path = channel["target"]["path"].get<std::string>();
  if (!IsAllowed(path, output.format)) {
    return Flaw(pointer, fmt::format("{} of component type {} is no format for {}",
                                     ShapeName(output.format.shape),
                                     static_cast<int>(output.format.component), path));
  }
  size_t expected = scene.streams.at(sampler["input"].get<size_t>()).count;
  if (const Json* kind = Member(sampler, "interpolation");
      kind != nullptr && *kind == "CUBICSPLINE")
    expected *= 3;
  if (path == "weights") {
    ASSIGN_OR_RETURN(const std::optional<size_t> weights,
                     CountWeights(scene, channel["target"], pointer));
    if (!weights) return absl::OkStatus();
    expected *= *weights;
  }
  if (output.count != expected)
    return Flaw(pointer, fmt::format("{} values of {}, expected {}", output.count, path, expected));
  return absl::OkStatus();
}

absl::Status CheckSampler(const Scene& scene, const Json& sampler, const std::string& pointer) {
  if (Member(sampler, "input") == nullptr || Member(sampler, "output") == nullptr)
    return Flaw(pointer, "expected input and output");
  ASSIGN_OR_RETURN(const std::string kind, TextOr(sampler, "interpolation", "LINEAR", pointer));
  if (kind != "LINEAR" && kind != "STEP" && kind != "CUBICSPLINE")
    return Flaw(pointer + "/interpolation", "expected LINEAR, STEP or CUBICSPLINE, not " + kind);
  return CheckKeys(scene.streams.at(sampler["input"].get<size_t>()), pointer + "/input");
}

}  // namespace

absl::Status CheckJoints(const Scene& scene) {
  std::vector<std::optional<GreatestJoint>> greatest;
  for (const MeshData& mesh : scene.meshes) greatest.push_back(FindGreatestJoint(mesh));
  for (size_t i = 0; i < ArraySize(scene.json, "nodes"); ++i) {
    const Json& node = scene.json["nodes"][i];
    const Json* mesh = Member(node, "mesh");
    const Json* skin = Member(node, "skin");
    if (mesh == nullptr || skin == nullptr) continue;
    const std::optional<GreatestJoint>& found = greatest[mesh->get<size_t>()];
    const size_t index = skin->get<size_t>();
    const size_t joint_count = ArraySize(scene.json["skins"][index], "joints");
    if (!found || static_cast<size_t>(found->joint) < joint_count) continue;
    return Flaw(found->pointer,
                fmt::format("joint {}, and /skins/{}, with which /nodes/{} shows it, has {}",
                            found->joint, index, i, joint_count));
  }
  return absl::OkStatus();
}

absl::Status CheckAnimations(const Scene& scene) {
  for (size_t i = 0; i < ArraySize(scene.json, "animations"); ++i) {
    const Json& animation = scene.json["animations"][i];
    const std::string place = fmt::format("/animations/{}", i);
    for (size_t k = 0; k < ArraySize(animation, "samplers"); ++k) {
      RETURN_IF_ERROR(
          CheckSampler(scene, animation["samplers"][k], fmt::format("{}/samplers/{}", place, k)));
    }
    for (size_t k = 0; k < ArraySize(animation, "channels"); ++k) {
      RETURN_IF_ERROR(CheckChannel(scene, animation, animation["channels"][k],
                                   fmt::format("{}/channels/{}", place, k)));
    }
  }
  return absl::OkStatus();
}

}  // namespace galley::worker::mesh
