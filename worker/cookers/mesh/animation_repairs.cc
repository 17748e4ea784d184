#include "worker/cookers/mesh/animation_repairs.h"

#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

// The validator's tolerance for the length of four numbers that should have length 1.
constexpr double kTurnLengthOff = 0.00769;

bool IsCubic(const Json& sampler) {
  const Json* kind = Member(sampler, "interpolation");
  return kind != nullptr && *kind == "CUBICSPLINE";
}

class AnimationRepair {
 public:
  AnimationRepair(Scene& scene, Warnings& warnings) : scene_(scene), warnings_(warnings) {}

  void Run() {
    Json* animations = Array(scene_.json, "animations");
    if (animations == nullptr) return;
    ListCubicOutputs(*animations);
    Json kept = Json::array();
    for (size_t i = 0; i < animations->size(); ++i) {
      Json& animation = (*animations)[i];
      const std::string pointer = fmt::format("/animations/{}", i);
      CheckKeyCounts(animation, pointer);
      FilterChannels(animation, pointer);
      for (size_t k = 0; k < ArraySize(animation, "channels"); ++k)
        RepairRotations(animation, k, pointer);
      if (ArraySize(animation, "channels") > 0) kept.push_back(std::move(animation));
    }
    *animations = std::move(kept);
    if (animations->empty()) scene_.json.erase("animations");
  }

 private:
  // Lists the outputs of cubic splines: only every third element of them is a rotation.
  void ListCubicOutputs(const Json& animations) {
    for (const Json& animation : animations) {
      for (size_t i = 0; i < ArraySize(animation, "samplers"); ++i) {
        const Json& sampler = animation["samplers"][i];
        const Json* output = Member(sampler, "output");
        if (output != nullptr && IsCubic(sampler)) cubic_.insert(output->get<size_t>());
      }
    }
  }

  void CheckKeyCounts(const Json& animation, const std::string& pointer) {
    for (size_t i = 0; i < ArraySize(animation, "samplers"); ++i) {
      const Json& sampler = animation["samplers"][i];
      const Json* input = Member(sampler, "input");
      if (input == nullptr || !IsCubic(sampler)) continue;
      if (scene_.streams.at(input->get<size_t>()).count >= 2) continue;
      warnings_.Add(
          "{}/samplers/{}/input: CUBICSPLINE needs two keys; the sampler stays as it is "
          "(ANIMATION_SAMPLER_INPUT_ACCESSOR_TOO_FEW_ELEMENTS)",
          pointer, i);
    }
  }

  // Whether the channel is to be left out.
  bool IsIdle(const Json& target, const std::string& place,
              std::set<std::pair<size_t, std::string>>& seen) {
    const Json* node = Member(target, "node");
    if (node == nullptr) return false;
    const size_t index = node->get<size_t>();
    const std::string path = target["path"].get<std::string>();
    if (!seen.emplace(index, path).second) {
      warnings_.AddRepair(
          "{}: a channel before it moves the same; this one is left out "
          "(ANIMATION_DUPLICATE_TARGETS)",
          place);
      return true;
    }
    const Json& moved = scene_.json["nodes"][index];
    if (path == "weights") {
      const Json* mesh = Member(moved, "mesh");
      if (mesh != nullptr && scene_.meshes[mesh->get<size_t>()].target_count > 0) return false;
      warnings_.AddRepair(
          "{}: its node has no mesh with morph targets; the channel is left out "
          "(ANIMATION_CHANNEL_TARGET_NODE_WEIGHTS_NO_MORPHS)",
          place);
      return true;
    }
    if (Member(moved, "matrix") != nullptr) {
      warnings_.Add(
          "{}: its node has a matrix; both stay as they are (ANIMATION_CHANNEL_TARGET_NODE_MATRIX)",
          place);
    }
    return false;
  }

  void FilterChannels(Json& animation, const std::string& pointer) {
    Json* channels = Array(animation, "channels");
    if (channels == nullptr) return;
    std::set<std::pair<size_t, std::string>> seen;
    Json kept = Json::array();
    for (size_t i = 0; i < channels->size(); ++i) {
      Json& channel = (*channels)[i];
      if (!IsIdle(channel["target"], fmt::format("{}/channels/{}", pointer, i), seen))
        kept.push_back(std::move(channel));
    }
    *channels = std::move(kept);
  }

  void RepairRotations(const Json& animation, size_t channel_index, const std::string& pointer) {
    const Json& channel = animation["channels"][channel_index];
    if (channel["target"]["path"] != "rotation") return;
    const size_t sampler_index = channel["sampler"].get<size_t>();
    const Json* output = Member(animation["samplers"][sampler_index], "output");
    if (output == nullptr) return;
    const size_t accessor = output->get<size_t>();
    Stream& stream = scene_.streams.at(accessor);
    const bool is_share =
        stream.format.component == Component::kFloat || stream.format.is_normalized;
    if (stream.format.shape != Shape::kVec4 || !is_share) return;
    if (!repaired_.insert(accessor).second) return;
    const bool is_cubic = cubic_.contains(accessor);
    size_t count = 0;
    for (size_t i = is_cubic ? 1 : 0; i < stream.count; i += is_cubic ? 3 : 1) {
      if (RepairQuaternion(stream, i, is_cubic)) ++count;
    }
    if (count == 0) return;
    warnings_.AddRepair(
        "{}/samplers/{}/output: {} quaternions are not of length 1; {} "
        "(ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION)",
        pointer, sampler_index, count,
        is_cubic ? "they stay as they are" : "they are brought to it");
  }

  // Brings a rotation to length 1 if it has another length. A spline's stays, since its tangents
  // would have to follow. Returns whether the length was not 1.
  static bool RepairQuaternion(Stream& stream, size_t element, bool is_cubic) {
    double square = 0;
    for (size_t c = 0; c < 4; ++c) square += double{stream.At(element, c)} * stream.At(element, c);
    const double length = std::sqrt(square);
    if (std::abs(length - 1) <= kTurnLengthOff) return false;
    if (is_cubic) return true;
    for (size_t c = 0; c < 4; ++c) {
      const double value = length > 1e-150 ? stream.At(element, c) / length : (c == 3 ? 1.0 : 0.0);
      PutNearest(stream, element, c, value);
    }
    return true;
  }

  Scene& scene_;
  Warnings& warnings_;
  std::set<size_t> cubic_;
  std::set<size_t> repaired_;
};

}  // namespace

void RepairAnimations(Scene& scene, Warnings& warnings) { AnimationRepair(scene, warnings).Run(); }

}  // namespace galley::worker::mesh
