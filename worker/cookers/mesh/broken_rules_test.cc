// Files that break a rule of glTF: a small document for each error code of Khronos' validator that
// this cooker has to treat (docs/cookers/mesh.md has the table of all codes).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "worker/cookers/mesh/testing/mesh_cooking.h"

namespace galley::worker::mesh {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

enum class Outcome { kTold, kRefused, kSilent };

struct BrokenFile {
  const char* code;
  Outcome outcome;
  std::string place;  // the message begins with it
  GltfBuilder (*scene)();
  std::function<void(GltfBuilder&)> change;
};

void PutName(json& object, const char* text) { object = json::parse(text); }

const char* const kPrimitive = "/meshes/0/primitives/0";
const std::string kTransformPlace =
    "/materials/0/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform";

// The texture transform of the first material.
json& TransformOf(GltfBuilder& b) {
  json& texture = b.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
  return texture["extensions"]["KHR_texture_transform"];
}

// Adds a triangle with an attribute `name` of normalised 16-bit integers.
void PutShorts(GltfBuilder& b, const char* name, const char* type, size_t count,
               const std::vector<uint32_t>& element) {
  std::vector<uint32_t> values;
  for (size_t i = 0; i < count; ++i) values.insert(values.end(), element.begin(), element.end());
  b.json["meshes"][0]["primitives"][0]["attributes"][name] =
      b.AddIntegers(type, 5122, values, true);
}

constexpr size_t kCubeVertices = 24;

void PutCamera(GltfBuilder& b, const char* text) {
  b.json["cameras"] = json::array({json::parse(text)});
  b.json["nodes"][0]["camera"] = 0;
}

std::vector<BrokenFile> NodeFiles() {
  return {
      {"SCENE_NON_ROOT_NODE", Outcome::kTold, "/scenes/0/nodes/1", CubeScene,
       [](GltfBuilder& b) {
         b.json["nodes"].push_back({{"children", {0}}});
         b.json["scenes"][0]["nodes"] = {1, 0};
       }},
      {"DUPLICATE_ELEMENTS", Outcome::kTold, "/scenes/0/nodes/1", CubeScene,
       [](GltfBuilder& b) {
         b.json["scenes"][0]["nodes"] = {0, 0};
       }},
      {"DUPLICATE_ELEMENTS", Outcome::kTold, "/nodes/0/children/1", CubeScene,
       [](GltfBuilder& b) {
         b.json["nodes"].push_back(json::object());
         b.json["nodes"][0]["children"] = {1, 1};
       }},
      {"DUPLICATE_ELEMENTS", Outcome::kTold, "/skins/0/joints", SkinnedScene,
       [](GltfBuilder& b) {
         b.json["skins"][0]["joints"] = {1, 1};
       }},
      {"NODE_LOOP", Outcome::kRefused, "/nodes/0: the node is its own ancestor", CubeScene,
       [](GltfBuilder& b) { b.json["nodes"][0]["children"] = {0}; }},
      {"NODE_PARENT_OVERRIDE", Outcome::kRefused, "/nodes/1/children", CubeScene,
       [](GltfBuilder& b) {
         PutName(b.json["nodes"], R"([{"children": [2]}, {"children": [2]}, {}])");
       }},
      {"NODE_MATRIX_TRS", Outcome::kTold, "/nodes/0", CubeScene,
       [](GltfBuilder& b) {
         PutName(b.json["nodes"][0], R"({"mesh": 0, "scale": [9, 9, 9],
                                     "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]})");
       }},
      {"NODE_MATRIX_NON_TRS", Outcome::kTold, "/nodes/0/matrix", CubeScene,
       [](GltfBuilder& b) {
         PutName(b.json["nodes"][0]["matrix"], "[1,1,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]");
       }},
      {"ROTATION_NON_UNIT", Outcome::kTold, "/nodes/0/rotation", CubeScene,
       [](GltfBuilder& b) {
         b.json["nodes"][0]["rotation"] = {0, 0.5, 0, 0.5};
       }},
      {"UNSATISFIED_DEPENDENCY", Outcome::kTold, "/nodes/1/skin", SkinnedScene,
       [](GltfBuilder& b) { b.json["nodes"][1]["skin"] = 0; }},
      {"UNSATISFIED_DEPENDENCY", Outcome::kTold, "/nodes/1/weights", CubeScene,
       [](GltfBuilder& b) {
         b.json["nodes"].push_back({{"weights", {1}}});
       }},
      {"SKIN_NO_COMMON_ROOT", Outcome::kTold, "/skins/0/joints", SkinnedScene,
       [](GltfBuilder& b) {
         b.json["nodes"][1].erase("children");
         b.json["scenes"][0]["nodes"] = {0, 1, 2};
       }},
      {"SKIN_SKELETON_INVALID", Outcome::kTold, "/skins/0/skeleton", SkinnedScene,
       [](GltfBuilder& b) { b.json["skins"][0]["skeleton"] = 2; }},
      {"NODE_SKIN_NO_SCENE", Outcome::kTold, "/nodes/0/skin", SkinnedScene,
       [](GltfBuilder& b) { b.json["scenes"][0]["nodes"] = {0}; }},
      {"NODE_SKIN_WITH_NON_SKINNED_MESH", Outcome::kTold, "/nodes/0/skin", SkinnedScene,
       [](GltfBuilder& b) {
         json& attributes = b.json["meshes"][0]["primitives"][0]["attributes"];
         attributes.erase("JOINTS_0");
         attributes.erase("WEIGHTS_0");
       }},
      {"NODE_WEIGHTS_INVALID", Outcome::kTold, "/nodes/0/weights", MorphScene,
       [](GltfBuilder& b) { b.json["nodes"][0]["weights"] = {0.5}; }},
      {"MESH_INVALID_WEIGHTS_COUNT", Outcome::kTold, "/meshes/0/weights", MorphScene,
       [](GltfBuilder& b) {
         b.json["meshes"][0]["weights"] = {0, 0, 1};
       }},
  };
}

std::vector<BrokenFile> PropertyFiles() {
  return {
      {"TYPE_MISMATCH", Outcome::kTold, "/nodes/0/scale", CubeScene,
       [](GltfBuilder& b) { b.json["nodes"][0]["scale"] = "big"; }},
      {"TYPE_MISMATCH", Outcome::kTold, "/meshes/0/name", CubeScene,
       [](GltfBuilder& b) { b.json["meshes"][0]["name"] = 5; }},
      {"TYPE_MISMATCH", Outcome::kTold, "/nodes/0/extensions", CubeScene,
       [](GltfBuilder& b) { b.json["nodes"][0]["extensions"] = 5; }},
      {"TYPE_MISMATCH", Outcome::kTold, "/materials/0/doubleSided", MaterialsScene,
       [](GltfBuilder& b) { b.json["materials"][0]["doubleSided"] = 1; }},
      {"TYPE_MISMATCH", Outcome::kTold, "/materials/0/pbrMetallicRoughness/metallicFactor",
       MaterialsScene,
       [](GltfBuilder& b) {
         b.json["materials"][0]["pbrMetallicRoughness"]["metallicFactor"] = "1";
       }},
      {"TYPE_MISMATCH", Outcome::kTold, "/samplers/0/magFilter", MaterialsScene,
       [](GltfBuilder& b) { b.json["samplers"][0]["magFilter"] = "9728"; }},
      {"TYPE_MISMATCH", Outcome::kTold, "/samplers/0/wrapT", MaterialsScene,
       [](GltfBuilder& b) { b.json["samplers"][0]["wrapT"] = 33071.5; }},
      {"TYPE_MISMATCH", Outcome::kTold, kTransformPlace + "/rotation", MaterialsScene,
       [](GltfBuilder& b) { TransformOf(b)["rotation"] = "1"; }},
      {"ARRAY_LENGTH_NOT_IN_LIST", Outcome::kTold, kTransformPlace + "/offset", MaterialsScene,
       [](GltfBuilder& b) { TransformOf(b)["offset"] = {1}; }},
      {"ARRAY_TYPE_MISMATCH", Outcome::kTold, kTransformPlace + "/scale", MaterialsScene,
       [](GltfBuilder& b) {
         TransformOf(b)["scale"] = {"2", 2};
       }},
      {"TYPE_MISMATCH", Outcome::kTold,
       "/materials/1/extensions/KHR_materials_clearcoat/clearcoatNormalTexture/scale",
       MaterialsScene,
       [](GltfBuilder& b) {
         b.json["materials"][1]["extensions"]["KHR_materials_clearcoat"]["clearcoatNormalTexture"] =
             {{"index", 2}, {"scale", "1"}};
       }},
      {"TYPE_MISMATCH", Outcome::kRefused, "/nodes/0/children: expected an array", CubeScene,
       [](GltfBuilder& b) { b.json["nodes"][0]["children"] = json::object(); }},
      {"TYPE_MISMATCH", Outcome::kRefused, "/scenes/0/nodes: expected an array", CubeScene,
       [](GltfBuilder& b) { PutName(b.json["scenes"][0]["nodes"], R"({"first": 0})"); }},
      {"TYPE_MISMATCH", Outcome::kRefused, "/meshes/0/primitives/0/targets: expected an array",
       MorphScene,
       [](GltfBuilder& b) { b.json["meshes"][0]["primitives"][0]["targets"] = json::object(); }},
      {"VALUE_NOT_IN_LIST", Outcome::kTold, "/samplers/0/magFilter", MaterialsScene,
       [](GltfBuilder& b) { b.json["samplers"][0]["magFilter"] = 9987; }},
      {"VALUE_NOT_IN_LIST", Outcome::kTold, "/samplers/0/minFilter", MaterialsScene,
       [](GltfBuilder& b) { b.json["samplers"][0]["minFilter"] = 1; }},
      {"VALUE_NOT_IN_LIST", Outcome::kTold, "/samplers/0/wrapS", MaterialsScene,
       [](GltfBuilder& b) { b.json["samplers"][0]["wrapS"] = -1; }},
      {"VALUE_NOT_IN_LIST", Outcome::kTold, "/materials/0/alphaMode", MaterialsScene,
       [](GltfBuilder& b) { b.json["materials"][0]["alphaMode"] = "GLASS"; }},
      {"VALUE_NOT_IN_LIST", Outcome::kTold, "/cameras/0/type", CubeScene,
       [](GltfBuilder& b) {
         PutCamera(b, R"({"type": "fisheye", "perspective": {"yfov": 1, "znear": 1}})");
       }},
      {"ARRAY_TYPE_MISMATCH", Outcome::kTold, "/nodes/0/translation", CubeScene,
       [](GltfBuilder& b) {
         b.json["nodes"][0]["translation"] = {0, "1", 0};
       }},
      {"ARRAY_LENGTH_NOT_IN_LIST", Outcome::kTold, "/nodes/0/translation", CubeScene,
       [](GltfBuilder& b) {
         b.json["nodes"][0]["translation"] = {0, 1};
       }},
      {"VALUE_NOT_IN_RANGE", Outcome::kTold, "/materials/0/emissiveFactor", MaterialsScene,
       [](GltfBuilder& b) {
         b.json["materials"][0]["emissiveFactor"] = {0, 5, 0};
       }},
      {"VALUE_NOT_IN_RANGE", Outcome::kTold, "/materials/0/extensions/KHR_materials_ior/ior",
       MaterialsScene,
       [](GltfBuilder& b) {
         b.json["materials"][0]["extensions"]["KHR_materials_ior"]["ior"] = 0.5;
       }},
      {"UNDEFINED_PROPERTY", Outcome::kTold, "/cameras/0/perspective", CubeScene,
       [](GltfBuilder& b) {
         PutCamera(b, R"({"type": "perspective", "perspective": {"znear": 1}})");
       }},
      {"ONE_OF_MISMATCH", Outcome::kTold, "/cameras/0", CubeScene,
       [](GltfBuilder& b) { PutCamera(b, R"({"type": "perspective"})"); }},
      {"CAMERA_ZFAR_LEQUAL_ZNEAR", Outcome::kTold, "/cameras/0", CubeScene,
       [](GltfBuilder& b) {
         PutCamera(b,
                   R"({"type": "perspective", "perspective": {"yfov": 1, "znear": 2, "zfar": 1}})");
       }},
      {"CAMERA_XMAG_YMAG_ZERO", Outcome::kTold, "/cameras/0", CubeScene,
       [](GltfBuilder& b) {
         PutCamera(b, R"({"type": "orthographic",
                          "orthographic": {"xmag": 0, "ymag": 1, "znear": 0, "zfar": 1}})");
       }},
      {"ONE_OF_MISMATCH", Outcome::kTold, "/images/1", MaterialsScene,
       [](GltfBuilder& b) { b.json["images"][1]["uri"] = "tex/bark.png"; }},
      {"EMPTY_ENTITY", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) {
         for (const char* key : {"animations", "skins", "cameras", "extensionsUsed"})
           b.json[key] = json::array();
         b.json["nodes"][0]["children"] = json::array();
         b.json["extensions"] = json::object();
       }},
      {"EMPTY_ENTITY", Outcome::kTold, "/meshes/1", CubeScene,
       [](GltfBuilder& b) {
         b.json["meshes"].push_back({{"primitives", json::array()}});
       }},
      {"UNDECLARED_EXTENSION", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) {
         b.json["nodes"][0]["extensions"]["KHR_node_visibility"]["visible"] = true;
       }},
      {"UNEXPECTED_EXTENSION_OBJECT", Outcome::kTold, "/nodes/0/extensions/KHR_materials_unlit",
       CubeScene,
       [](GltfBuilder& b) {
         b.json["nodes"][0]["extensions"]["KHR_materials_unlit"] = json::object();
       }},
      {"UNDEFINED_PROPERTY", Outcome::kTold,
       "/extensions/KHR_lights_punctual: no member \"lights\"", CubeScene,
       [](GltfBuilder& b) { b.json["extensions"]["KHR_lights_punctual"] = json::object(); }},
      {"UNDEFINED_PROPERTY", Outcome::kTold,
       "/extensions/KHR_materials_variants: no member \"variants\"", CubeScene,
       [](GltfBuilder& b) { b.json["extensions"]["KHR_materials_variants"] = json::object(); }},
      {"EMPTY_ENTITY", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) {
         b.json["extensions"]["KHR_lights_punctual"]["lights"] = json::array();
       }},
      {"TYPE_MISMATCH", Outcome::kRefused,
       "/extensions/KHR_lights_punctual/lights: expected an array", CubeScene,
       [](GltfBuilder& b) { b.json["extensions"]["KHR_lights_punctual"]["lights"] = 5; }},
      {"ARRAY_TYPE_MISMATCH", Outcome::kRefused,
       "/extensions/KHR_materials_variants/variants/0: expected an object", CubeScene,
       [](GltfBuilder& b) {
         b.json["extensions"]["KHR_materials_variants"]["variants"] = {"red"};
       }},
      {"TYPE_MISMATCH", Outcome::kTold,
       "/meshes/0/primitives/0/extensions/KHR_materials_variants/mappings/0/name", MaterialsScene,
       [](GltfBuilder& b) {
         b.json["extensions"]["KHR_materials_variants"]["variants"] =
             json::parse(R"([{"name": "a"}])");
         b.json["meshes"][0]["primitives"][0]["extensions"]["KHR_materials_variants"]["mappings"] =
             json::parse(R"([{"name": 5, "material": 0, "variants": [0]}])");
       }},
      {"KHR_LIGHTS_PUNCTUAL_LIGHT_SPOT_ANGLES", Outcome::kTold,
       "/extensions/KHR_lights_punctual/lights/0/spot", CubeScene,
       [](GltfBuilder& b) {
         b.json["extensions"]["KHR_lights_punctual"]["lights"] = json::parse(
             R"([{"type": "spot", "spot": {"innerConeAngle": 1, "outerConeAngle": 0.5}}])");
       }},
      {"KHR_MATERIALS_VARIANTS_NON_UNIQUE_VARIANT", Outcome::kTold, kPrimitive, MaterialsScene,
       [](GltfBuilder& b) {
         b.json["extensions"]["KHR_materials_variants"]["variants"] =
             json::parse(R"([{"name": "a"}])");
         b.json["meshes"][0]["primitives"][0]["extensions"]["KHR_materials_variants"]["mappings"] =
             json::parse(R"([{"material": 0, "variants": [0]}, {"material": 1, "variants": [0]}])");
       }},
  };
}

std::vector<BrokenFile> PrimitiveFiles() {
  return {
      {"MESH_PRIMITIVE_JOINTS_WEIGHTS_MISMATCH", Outcome::kTold,
       "/meshes/0/primitives/0/attributes/WEIGHTS_0", SkinnedScene,
       [](GltfBuilder& b) {
         b.json["meshes"][0]["primitives"][0]["attributes"].erase("JOINTS_0");
         b.json["nodes"][0].erase("skin");  // which would give another warning
       }},
      {"MESH_PRIMITIVE_INVALID_ATTRIBUTE", Outcome::kTold, "/meshes/0/primitives/0/attributes/HEAT",
       CubeScene, [](GltfBuilder& b) { PutFloats(b, "HEAT", "SCALAR", kCubeVertices, {1}); }},
      {"MESH_PRIMITIVE_INVALID_ATTRIBUTE", Outcome::kTold,
       "/meshes/0/primitives/0/attributes/TEXCOORD_01", CubeScene,
       [](GltfBuilder& b) {
         PutFloats(b, "TEXCOORD_01", "VEC2", kCubeVertices, {0, 1});
       }},
      {"MESH_PRIMITIVE_INDEXED_SEMANTIC_CONTINUITY", Outcome::kTold,
       "/meshes/0/primitives/0/attributes", CubeScene,
       [](GltfBuilder& b) {
         PutFloats(b, "TEXCOORD_2", "VEC2", kCubeVertices, {0, 1});
       }},
      {"MESH_PRIMITIVE_MORPH_TARGET_NO_BASE_ACCESSOR", Outcome::kTold,
       "/meshes/0/primitives/0/targets/0/NORMAL", MorphScene,
       [](GltfBuilder& b) { b.json["meshes"][0]["primitives"][0]["attributes"].erase("NORMAL"); }},
      {"EMPTY_ENTITY", Outcome::kTold, "/meshes/0/primitives/0/targets/1", MorphScene,
       [](GltfBuilder& b) { b.json["meshes"][0]["primitives"][0]["targets"][1] = json::object(); }},
      {"MESH_PRIMITIVE_TOO_FEW_TEXCOORDS", Outcome::kTold, "/meshes/0/primitives/1", MaterialsScene,
       [](GltfBuilder& b) { b.json["materials"][1]["emissiveTexture"]["texCoord"] = 1; }},
      {"MESH_PRIMITIVE_NO_TANGENT_SPACE", Outcome::kTold, "/meshes/0/primitives/1", MaterialsScene,
       [](GltfBuilder& b) {
         b.json["materials"][1]["extensions"]["KHR_materials_anisotropy"]["anisotropyStrength"] = 1;
       }},
      {"ACCESSOR_INVALID_SIGN", Outcome::kTold, kPrimitive, CubeScene,
       [](GltfBuilder& b) {
         PutFloats(b, "TANGENT", "VEC4", kCubeVertices, {1, 0, 0, 0.5});
       }},
      {"ACCESSOR_VECTOR3_NON_UNIT", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) {
         PutFloats(b, "NORMAL", "VEC3", kCubeVertices, {0, 3, 0});
       }},
      {"ACCESSOR_VECTOR3_NON_UNIT", Outcome::kTold, kPrimitive, CubeScene,
       [](GltfBuilder& b) {
         PutFloats(b, "NORMAL", "VEC3", kCubeVertices, {0, 0, 0});
       }},
      {"ACCESSOR_VECTOR3_NON_UNIT", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) {
         PutShorts(b, "NORMAL", "VEC3", kCubeVertices, {0, 9'000, 0});
       }},
      {"ACCESSOR_VECTOR3_NON_UNIT", Outcome::kTold, kPrimitive, CubeScene,
       [](GltfBuilder& b) {
         PutShorts(b, "NORMAL", "VEC3", kCubeVertices, {0, 0, 0});
       }},
      {"ACCESSOR_VECTOR3_NON_UNIT", Outcome::kTold, kPrimitive, CubeScene,
       [](GltfBuilder& b) {
         PutShorts(b, "TANGENT", "VEC4", kCubeVertices, {0, 0, 0, 32'767});
       }},
      {"ACCESSOR_INVALID_SIGN", Outcome::kTold, kPrimitive, CubeScene,
       [](GltfBuilder& b) {
         PutShorts(b, "TANGENT", "VEC4", kCubeVertices, {32'767, 0, 0, 9'000});
       }},
      {"ACCESSOR_NON_CLAMPED", Outcome::kTold, kPrimitive, CubeScene,
       [](GltfBuilder& b) {
         PutFloats(b, "COLOR_0", "VEC3", kCubeVertices, {0, 2, 0});
       }},
      {"ACCESSOR_WEIGHTS_NEGATIVE", Outcome::kTold, kPrimitive, SkinnedScene,
       [](GltfBuilder& b) {
         PutFloats(b, "WEIGHTS_0", "VEC4", kWaveVertices, {1, -1, 0, 0});
       }},
      {"ACCESSOR_WEIGHTS_NON_NORMALIZED", Outcome::kSilent, "", SkinnedScene,
       [](GltfBuilder& b) {
         PutFloats(b, "WEIGHTS_0", "VEC4", kWaveVertices, {3, 1, 0, 0});
       }},
      {"ACCESSOR_JOINTS_INDEX_DUPLICATE", Outcome::kTold, kPrimitive, SkinnedScene,
       [](GltfBuilder& b) {
         PutFloats(b, "WEIGHTS_0", "VEC4", kWaveVertices, {0.5f, 0.25f, 0.25f, 0});
       }},
      {"ACCESSOR_INVALID_IBM", Outcome::kTold, "/skins/0/inverseBindMatrices", SkinnedScene,
       [](GltfBuilder& b) {
         b.json["skins"][0]["inverseBindMatrices"] =
             b.AddFloats("MAT4", {1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
                                  1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
       }},
      {"ACCESSOR_INDEX_PRIMITIVE_RESTART", Outcome::kTold, "/meshes/0/primitives/0/indices",
       CubeScene,
       [](GltfBuilder& b) {
         json primitive;
         primitive["attributes"]["POSITION"] =
             b.AddFloats("VEC3", std::vector<float>(256 * 3, 1.0f), true);
         primitive["indices"] = b.AddIntegers("SCALAR", 5121, {0, 1, 255});
         b.json["meshes"][0]["primitives"][0] = primitive;
       }},
  };
}

std::vector<BrokenFile> AnimationFiles() {
  return {
      {"ANIMATION_DUPLICATE_TARGETS", Outcome::kTold, "/animations/0/channels/1", SkinnedScene,
       [](GltfBuilder& b) {
         json& channels = b.json["animations"][0]["channels"];
         channels.push_back(json(channels[0]));
       }},
      {"ANIMATION_CHANNEL_TARGET_NODE_MATRIX", Outcome::kTold, "/animations/0/channels/0",
       SkinnedScene,
       [](GltfBuilder& b) {
         PutName(b.json["nodes"][2], R"({"matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,1,0,1]})");
       }},
      {"ANIMATION_CHANNEL_TARGET_NODE_WEIGHTS_NO_MORPHS", Outcome::kTold,
       "/animations/0/channels/0", MorphScene,
       [](GltfBuilder& b) {
         b.json["nodes"].push_back(json::object());
         b.json["animations"][0]["channels"][0]["target"]["node"] = 1;
       }},
      {"ANIMATION_SAMPLER_INPUT_ACCESSOR_TOO_FEW_ELEMENTS", Outcome::kTold,
       "/animations/0/samplers/0/input", SkinnedScene,
       [](GltfBuilder& b) {
         b.json["animations"][0]["samplers"][0] = {
             {"input", b.AddFloats("SCALAR", {0}, true)},
             {"output", b.AddFloats("VEC4", {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0})},
             {"interpolation", "CUBICSPLINE"}};
       }},
      {"ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION", Outcome::kTold,
       "/animations/0/samplers/0/output", SkinnedScene,
       [](GltfBuilder& b) {
         b.json["animations"][0]["samplers"][0]["output"] =
             b.AddFloats("VEC4", {0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1});
       }},
      {"ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION", Outcome::kTold,
       "/animations/0/samplers/0/output", SkinnedScene,
       [](GltfBuilder& b) {
         b.json["animations"][0]["samplers"][0]["output"] =
             b.AddIntegers("VEC4", 5122, {0, 0, 0, 9'000, 0, 0, 0, 0, 0, 0, 0, 32'767}, true);
       }},
      {"EMPTY_ENTITY", Outcome::kTold, "/animations/0", SkinnedScene,
       [](GltfBuilder& b) { b.json["animations"][0]["channels"] = json::array(); }},
  };
}

std::vector<BrokenFile> AccessorFiles() {
  return {
      {"ACCESSOR_MAX_MISMATCH", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) {
         b.json["accessors"][0]["max"] = {0, 0, 0};
       }},
      {"MESH_PRIMITIVE_POSITION_ACCESSOR_WITHOUT_BOUNDS", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) { b.json["accessors"][0].erase("max"); }},
      {"INVALID_GL_VALUE", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) {
         const size_t indices = b.json["meshes"][0]["primitives"][0]["indices"].get<size_t>();
         b.json["accessors"][indices]["min"] = {-1};
         b.json["accessors"][indices]["max"] = {1e6};
       }},
      {"VALUE_NOT_IN_LIST", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) { b.json["bufferViews"][0]["target"] = 1; }},
      {"VALUE_NOT_IN_LIST", Outcome::kRefused, "/meshes/0/primitives/0", CubeScene,
       [](GltfBuilder& b) { b.json["accessors"][0]["componentType"] = 5124; }},
      {"VALUE_NOT_IN_LIST", Outcome::kRefused, "/meshes/0/primitives/0/mode", CubeScene,
       [](GltfBuilder& b) { b.json["meshes"][0]["primitives"][0]["mode"] = 7; }},
      {"BUFFER_VIEW_TARGET_OVERRIDE", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) { b.json["bufferViews"][0]["target"] = 34963; }},
      {"ACCESSOR_NORMALIZED_INVALID", Outcome::kRefused,
       "/meshes/0/primitives/0/attributes/POSITION", CubeScene,
       [](GltfBuilder& b) { b.json["accessors"][0]["normalized"] = true; }},
      {"ANIMATION_SAMPLER_INPUT_ACCESSOR_WITHOUT_BOUNDS", Outcome::kSilent, "", SkinnedScene,
       [](GltfBuilder& b) {
         const size_t input = b.json["animations"][0]["samplers"][0]["input"].get<size_t>();
         b.json["accessors"][input].erase("max");
       }},
      {"MESH_PRIMITIVES_UNEQUAL_TARGETS_COUNT", Outcome::kRefused, "/meshes/0/primitives/1",
       MorphScene,
       [](GltfBuilder& b) {
         json second = b.json["meshes"][0]["primitives"][0];
         second["targets"].erase(1);
         b.json["meshes"][0]["primitives"].push_back(second);
       }},
      {"UNUSED_EXTENSION_REQUIRED", Outcome::kSilent, "", CubeScene,
       [](GltfBuilder& b) { b.json["extensionsRequired"] = {"KHR_materials_unlit"}; }},
  };
}

class BrokenRulesTest : public MeshCooking {
 protected:
  void Expect(const BrokenFile& file) {
    SCOPED_TRACE(std::string(file.code) + " " + file.place);
    GltfBuilder builder = file.scene();
    file.change(builder);
    for (const bool quantize : {true, false}) {
      const auto context = Run(builder.Glb(), {{"quantize", quantize}, {"lods", {0.5}}});
      if (file.outcome == Outcome::kRefused) {
        EXPECT_TRUE(absl::IsInvalidArgument(status_)) << status_;
        EXPECT_TRUE(std::string(status_.message()).starts_with(file.place)) << status_;
        continue;
      }
      ASSERT_TRUE(status_.ok()) << status_;
      if (file.outcome == Outcome::kSilent) {
        EXPECT_THAT(context->warnings(), IsEmpty());
      } else {
        ASSERT_EQ(context->warnings().size(), 1) << testing::PrintToString(context->warnings());
        EXPECT_TRUE(context->warnings()[0].starts_with(file.place)) << context->warnings()[0];
        EXPECT_THAT(context->warnings()[0], HasSubstr(std::string("(") + file.code + ")"));
      }
      // Repaired values give no second warning and stay as they are.
      const std::string once = context->output(".glb");
      EXPECT_EQ(CookBytes(once, {{"quantize", quantize}}),
                CookBytes(CookBytes(once, {{"quantize", quantize}}), {{"quantize", quantize}}));
    }
  }
};

TEST_F(BrokenRulesTest, NodesScenesAndSkins) {
  for (const BrokenFile& file : NodeFiles()) Expect(file);
}
TEST_F(BrokenRulesTest, PropertiesAndExtensions) {
  for (const BrokenFile& file : PropertyFiles()) Expect(file);
}
TEST_F(BrokenRulesTest, PrimitivesAndTheirData) {
  for (const BrokenFile& file : PrimitiveFiles()) Expect(file);
}
TEST_F(BrokenRulesTest, Animations) {
  for (const BrokenFile& file : AnimationFiles()) Expect(file);
}
TEST_F(BrokenRulesTest, Accessors) {
  for (const BrokenFile& file : AccessorFiles()) Expect(file);
}

}  // namespace
}  // namespace galley::worker::mesh
