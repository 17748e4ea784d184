#include "worker/cookers/mesh/scene.h"

#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/accessor.h"
#include "worker/cookers/mesh/animation_repairs.h"
#include "worker/cookers/mesh/buffer_builder.h"
#include "worker/cookers/mesh/extensions.h"
#include "worker/cookers/mesh/glb.h"
#include "worker/cookers/mesh/mesh_repairs.h"
#include "worker/cookers/mesh/quantize.h"
#include "worker/cookers/mesh/scene_checks.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

constexpr const char* kAnimationInputs = "animations/*/samplers/*/input";
constexpr const char* kAnimationOutputs = "animations/*/samplers/*/output";
constexpr const char* kInstances = "nodes/*/extensions/EXT_mesh_gpu_instancing/attributes/{}";

// Leaves out channels with an unknown path ("pointer"), and animations without channels.
absl::Status FilterChannels(Json& animation, Warnings& warnings, const std::string& pointer) {
  if (Member(animation, "channels") == nullptr) {
    warnings.Add("{}: the animation has no channels; it is left out (EMPTY_ENTITY)", pointer);
    return absl::OkStatus();
  }
  Json* channels = Array(animation, "channels");
  if (channels == nullptr) return Flaw(pointer + "/channels", "expected an array");
  Json kept = Json::array();
  for (size_t i = 0; i < channels->size(); ++i) {
    const std::string place = fmt::format("{}/channels/{}", pointer, i);
    Json& channel = (*channels)[i];
    const Json* target = Member(channel, "target");
    if (target == nullptr || !target->is_object())
      return Flaw(place + "/target", "expected an object");
    ASSIGN_OR_RETURN(const std::string path, TextOr(*target, "path", "", place + "/target"));
    ASSIGN_OR_RETURN(const uint64_t sampler,
                     NumberOr(channel, "sampler", UINT32_MAX, UINT32_MAX, place));
    if (sampler >= ArraySize(animation, "samplers"))
      return Flaw(place + "/sampler", "expected the index of a sampler of this animation");
    if (path == "translation" || path == "rotation" || path == "scale" || path == "weights") {
      kept.push_back(std::move(channel));
    } else {
      warnings.Add("{}: path {} is not known here; the channel is left out", place, Shown(path));
    }
  }
  *channels = std::move(kept);
  return absl::OkStatus();
}

absl::Status FilterAnimations(Json& json, Warnings& warnings) {
  Json* animations = Array(json, "animations");
  if (animations == nullptr) return absl::OkStatus();
  Json kept = Json::array();
  for (size_t i = 0; i < animations->size(); ++i) {
    Json& animation = (*animations)[i];
    RETURN_IF_ERROR(FilterChannels(animation, warnings, fmt::format("/animations/{}", i)));
    if (ArraySize(animation, "channels") > 0) kept.push_back(std::move(animation));
  }
  *animations = std::move(kept);
  if (animations->empty()) json.erase("animations");
  return absl::OkStatus();
}

absl::Status ReadStreams(Document& document, Scene& scene) {
  for (const char* pattern : {kAnimationInputs, kAnimationOutputs, kInstances}) {
    RETURN_IF_ERROR(VisitJson(document.json, pattern, "",
                              [&](Json& value, const std::string& pointer) -> absl::Status {
                                const size_t accessor = value.get<size_t>();
                                if (scene.streams.contains(accessor)) return absl::OkStatus();
                                auto stream = ReadAccessor(document, accessor);
                                if (!stream.ok()) return Annotate(stream.status(), pointer);
                                scene.streams[accessor] = *std::move(stream);
                                return absl::OkStatus();
                              }));
  }
  return absl::OkStatus();
}

bool AreAffine(const Stream& matrices) {
  for (size_t i = 0; i < matrices.count; ++i) {
    for (size_t column = 0; column < 4; ++column) {
      if (matrices.At(i, column * 4 + 3) != (column == 3 ? 1.0f : 0.0f)) return false;
    }
  }
  return true;
}

absl::Status ReadSkins(Document& document, Scene& scene) {
  for (size_t i = 0; i < ArraySize(document.json, "skins"); ++i) {
    const std::string place = fmt::format("/skins/{}", i);
    const Json& skin = document.json["skins"][i];
    const size_t joint_count = ArraySize(skin, "joints");
    if (joint_count == 0) return Flaw(place + "/joints", "expected at least one joint");
    scene.inverse_binds.emplace_back();
    const Json* accessor = Member(skin, "inverseBindMatrices");
    if (accessor == nullptr) continue;
    auto matrices = ReadAccessor(document, accessor->get<size_t>());
    if (!matrices.ok()) return Annotate(matrices.status(), place + "/inverseBindMatrices");
    if (matrices->format != Format{.component = Component::kFloat, .shape = Shape::kMat4} ||
        matrices->count < joint_count) {
      return Flaw(place + "/inverseBindMatrices",
                  fmt::format("expected MAT4 of floats, at least {}", joint_count));
    }
    if (!AreAffine(*matrices)) {
      document.warnings.Add(
          "{}/inverseBindMatrices: the last row of a matrix is not 0 0 0 1; it stays as it is "
          "(ACCESSOR_INVALID_IBM)",
          place);
    }
    scene.inverse_binds.back() = *std::move(matrices);
  }
  return absl::OkStatus();
}

// Signs the author's `asset` member as the cooker's output.
void SignAsset(Json& json) {
  json["asset"]["version"] = "2.0";
  json["asset"]["generator"] = "galley";
}

class SceneWriter {
 public:
  explicit SceneWriter(const Scene& scene) : scene_(scene), json_(scene.json) {}

  absl::StatusOr<std::string> Write(bool with_animations) {
    if (!with_animations) json_.erase("animations");
    PutMeshes();
    PutSkins();
    PutStreams(kAnimationInputs, true);
    PutStreams(kAnimationOutputs, false);
    PutStreams(kInstances, false);
    const std::string buffer = builder_.Finish(json_);
    ListExtensions(json_, is_quantized_);
    return WriteGlb(json_.dump(-1, ' ', false, Json::error_handler_t::strict), buffer);
  }

 private:
  void PutMeshes() {
    for (size_t i = 0; i < scene_.meshes.size(); ++i) {
      const std::vector<Primitive>& primitives = scene_.meshes[i].primitives;
      for (size_t k = 0; k < primitives.size(); ++k) {
        builder_.AddPrimitive(primitives[k], json_["meshes"][i]["primitives"][k]);
        is_quantized_ = is_quantized_ || NeedsQuantizationExtension(primitives[k]);
      }
    }
  }
  void PutSkins() {
    for (size_t i = 0; i < scene_.inverse_binds.size(); ++i) {
      const std::optional<Stream>& matrices = scene_.inverse_binds[i];
      if (!matrices) continue;
      json_["skins"][i]["inverseBindMatrices"] =
          builder_.AddStream(*matrices, BufferBuilder::Use::kInverseBind, false);
    }
  }
  void PutStreams(const char* pattern, bool has_bounds) {
    VisitJson(json_, pattern, "", [&](Json& value, const std::string&) {
      value = builder_.AddStream(scene_.streams.at(value.get<size_t>()), BufferBuilder::Use::kOther,
                                 has_bounds);
      return absl::OkStatus();
    }).IgnoreError();  // the visitor returns no error
  }

  const Scene& scene_;
  Json json_;
  BufferBuilder builder_;
  bool is_quantized_ = false;
};

}  // namespace

absl::StatusOr<Scene> ReadScene(Document& document) {
  Scene scene;
  RETURN_IF_ERROR(FilterAnimations(document.json, document.warnings));
  for (size_t i = 0; i < ArraySize(document.json, "meshes"); ++i) {
    ASSIGN_OR_RETURN(MeshData mesh, ReadMesh(document, i));
    scene.meshes.push_back(std::move(mesh));
  }
  DropEmptyMeshes(document.json, scene.meshes, document.warnings);
  RepairMeshUse(document.json, scene.meshes, document.warnings);
  RETURN_IF_ERROR(ReadSkins(document, scene));
  RETURN_IF_ERROR(ReadStreams(document, scene));
  scene.json = std::move(document.json);
  for (const char* key : {"accessors", "bufferViews", "buffers"}) scene.json.erase(key);
  SignAsset(scene.json);
  scene.budget = document.budget;
  RepairAnimations(scene, document.warnings);
  RETURN_IF_ERROR(CheckJoints(scene));
  RETURN_IF_ERROR(CheckAnimations(scene));
  return scene;
}

absl::StatusOr<std::string> WriteScene(const Scene& scene, bool with_animations) {
  return SceneWriter(scene).Write(with_animations);
}

}  // namespace galley::worker::mesh
