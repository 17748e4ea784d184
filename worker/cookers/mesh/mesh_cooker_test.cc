#include "worker/cookers/mesh/mesh_cooker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/record/output_names.h"
#include "worker/cookers/mesh/testing/mesh_cooking.h"

namespace galley::worker::mesh {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using ::testing::VariantWith;

// Normals of 8 bits are off by half a step on each axis, and by what bringing them to length 1
// adds.
constexpr Tolerance kQuantised = {.position = 3.1e-5, .attribute = 0.011};

class MeshCookerTest : public MeshCooking {};

TEST_F(MeshCookerTest, ACubeIsDrawnAsItWas) { ExpectSame(CubeScene(), kQuantised); }

TEST_F(MeshCookerTest, ASkinnedMeshIsDrawnAsItWas) {
  // A weight of 8 bits moves a vertex by 1/510 of the distance between the joints.
  ExpectSame(SkinnedScene(), {.position = 0.004, .attribute = 0.012});
}

TEST_F(MeshCookerTest, AMorphedMeshIsDrawnAsItWas) {
  ExpectSame(MorphScene(), {.position = 3e-4, .attribute = 0.02});
}

TEST_F(MeshCookerTest, MaterialsKeepTheirTriangles) { ExpectSame(MaterialsScene(), kQuantised); }

TEST_F(MeshCookerTest, MoreThan65535VerticesTakeLongIndices) {
  GltfBuilder builder;
  builder.AddMesh(AddSurface(builder, Waves(330, 220)));
  const std::string cooked = CookBytes(builder.Glb());
  const GlbFile file = ReadGlbFile(cooked);
  const json& primitive = file.json["meshes"][0]["primitives"][0];
  EXPECT_EQ(file.json["accessors"][primitive["indices"].get<size_t>()]["componentType"], 5125);
  EXPECT_EQ(file.json["accessors"][primitive["attributes"]["POSITION"].get<size_t>()]["count"],
            331 * 221);
  EXPECT_EQ(Compare(ReadTriangles(ReadGlbFile(builder.Glb())), ReadTriangles(file), kQuantised),
            "");
}

TEST_F(MeshCookerTest, NodesAreLeftAloneAndAChildUndoesTheGrid) {
  GltfBuilder builder = CubeScene();
  json node = builder.json["nodes"][0];
  node["name"] = "wheel";
  node["translation"] = {0, 5, 0};
  node["rotation"] = {0.6, 0, 0, 0.8};
  node["scale"] = {1, 2, 3};
  node["children"] = {1};
  node["extras"] = {{"mass", 3}};
  builder.json["nodes"] = {node, {{"name", "lamp"}}};
  ExpectSame(builder, {.position = 1e-4, .attribute = 0.012});
  const GlbFile file = Cook(builder.Glb());
  json expected = node;
  expected.erase("mesh");
  expected["children"] = {1, 2};
  EXPECT_EQ(file.json["nodes"][0], expected);
  EXPECT_EQ(file.json["nodes"][1], json({{"name", "lamp"}}));
  EXPECT_EQ(file.json["nodes"][2]["mesh"], 0);
  const json& scale = file.json["nodes"][2]["scale"];
  EXPECT_EQ(scale[0], scale[1]);
  EXPECT_EQ(scale[0], scale[2]);
  int exponent = 0;
  EXPECT_EQ(std::frexp(static_cast<float>(scale[0].get<double>()), &exponent), 0.5f);
}

TEST_F(MeshCookerTest, AMeshThatManyNodesShowKeepsThemApart) {
  GltfBuilder builder = CubeScene();
  builder.json["nodes"].push_back(
      {{"mesh", 0}, {"matrix", {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1}}});
  builder.json["scenes"][0]["nodes"].push_back(1);
  ExpectSame(builder, {.position = 1e-4, .attribute = 0.011});
}

TEST_F(MeshCookerTest, ASkinThatSeveralMeshesShareHasOneGrid) {
  GltfBuilder builder = SkinnedScene();
  json second = builder.json["meshes"][0];
  std::vector<float> positions = Waves(6, 20).positions;
  for (float& position : positions) position = position * 3 + 20;
  second["primitives"][0]["attributes"]["POSITION"] = builder.AddFloats("VEC3", positions, true);
  builder.json["meshes"].push_back(second);
  // A node shows the mesh with the skin, another one without.
  builder.json["nodes"].push_back({{"mesh", 1}, {"skin", 0}});
  builder.json["nodes"].push_back({{"mesh", 1}});
  builder.json["scenes"][0]["nodes"] = {0, 1, 3, 4};
  const Drawn expected = ReadTriangles(ReadGlbFile(builder.Glb()));
  EXPECT_EQ(
      Compare(expected, ReadTriangles(Cook(builder.Glb())), {.position = 0.05, .attribute = 0.03}),
      "");
}

// The component type of a primitive's positions; by default of the first primitive of mesh 0.
int PositionType(const GlbFile& file, size_t mesh = 0, size_t primitive = 0) {
  const json& attributes = file.json["meshes"][mesh]["primitives"][primitive]["attributes"];
  return file.json["accessors"][attributes["POSITION"].get<size_t>()]["componentType"].get<int>();
}

TEST_F(MeshCookerTest, ASmallMeshDoesNotLoseItsShapeToALargeOneOfItsSkin) {
  const auto scene = [](float scale) {
    GltfBuilder builder = SkinnedScene();
    json small = builder.json["meshes"][0];
    std::vector<float> positions = Waves(6, 20).positions;
    for (float& position : positions) position *= scale;
    small["primitives"][0]["attributes"]["POSITION"] = builder.AddFloats("VEC3", positions, true);
    builder.json["meshes"].push_back(small);
    builder.json["nodes"].push_back({{"mesh", 1}, {"skin", 0}});
    builder.json["scenes"][0]["nodes"].push_back(3);
    return builder;
  };
  const GlbFile alike = Cook(scene(0.1f).Glb());
  EXPECT_EQ(PositionType(alike, 0), 5123);
  EXPECT_EQ(PositionType(alike, 1), 5123);
  const GlbFile unlike = Cook(scene(0.001f).Glb());
  EXPECT_EQ(PositionType(unlike, 0), 5126);
  EXPECT_EQ(PositionType(unlike, 1), 5126);
}

TEST_F(MeshCookerTest, PositionsThatAreIntegersStay) {
  GltfBuilder builder = CubeScene();
  json whole = builder.json["meshes"][0]["primitives"][0];
  std::vector<uint32_t> positions;
  for (const float position : Cube().positions)
    positions.push_back(static_cast<uint32_t>(position + 1) * 1000);
  whole["attributes"]["POSITION"] = builder.AddIntegers("VEC3", 5123, positions, true);
  builder.json["meshes"][0]["primitives"].push_back(whole);
  const GlbFile file = Cook(builder.Glb());
  EXPECT_EQ(PositionType(file, 0, 0), 5126);
  EXPECT_EQ(PositionType(file, 0, 1), 5123);
  EXPECT_EQ(file.json["nodes"].size(), 1u);
  const json& kept = file.json["meshes"][0]["primitives"][1]["attributes"]["POSITION"];
  EXPECT_EQ(file.json["accessors"][kept.get<size_t>()]["max"], json({12000, 2000, 2000}));
}

TEST_F(MeshCookerTest, MeshesBeyondEveryGridKeepTheirPositions) {
  for (const float scale : {1e-33f, 3e37f}) {
    Surface cube = Cube();
    for (float& position : cube.positions) position *= scale;
    GltfBuilder builder;
    builder.AddMesh(AddSurface(builder, cube));
    const GlbFile file = Cook(builder.Glb());
    EXPECT_EQ(PositionType(file), 5126);
    EXPECT_EQ(file.json["nodes"].size(), 1u);
    EXPECT_EQ(ReadTriangles(file).triangles.size(), 12u) << scale;
  }
}

TEST_F(MeshCookerTest, SmallDeltasOfAMeshAtOnePlaceAreKept) {
  GltfBuilder builder;
  json primitive = AddSurface(builder, Cube());
  const std::vector<float> place(24 * 3, 0);
  std::vector<float> deltas = Cube().positions;
  for (float& delta : deltas) delta *= 1e-12f;
  primitive["attributes"]["POSITION"] = builder.AddFloats("VEC3", place, true);
  primitive["targets"] = {{{"POSITION", builder.AddFloats("VEC3", deltas, true)}}};
  builder.AddMesh(primitive);
  const GlbFile file = Cook(builder.Glb());
  const json& target = file.json["meshes"][0]["primitives"][0]["targets"][0];
  EXPECT_THAT(ReadValues(file, target["POSITION"].get<size_t>()), Contains(testing::Gt(10'000)));
}

TEST_F(MeshCookerTest, ASkinWithoutInverseBindsGetsSome) {
  GltfBuilder builder = SkinnedScene();
  builder.json["skins"][0].erase("inverseBindMatrices");
  ExpectSame(builder, {.position = 0.004, .attribute = 0.012});
}

// A scene whose matrices pass float's range when they take up the grid.
GltfBuilder TooLargeScene() {
  GltfBuilder builder = SkinnedScene();
  json& primitive = builder.json["meshes"][0]["primitives"][0];
  std::vector<float> positions = Waves(6, 20).positions;
  positions[0] = 1e30f;
  primitive["attributes"]["POSITION"] = builder.AddFloats("VEC3", positions, true);
  std::vector<float> matrices(32, 3e38f);
  builder.json["skins"][0]["inverseBindMatrices"] = builder.AddFloats("MAT4", matrices);
  return builder;
}

TEST_F(MeshCookerTest, MatricesThatWouldBecomeInfiniteAreAVerdict) {
  const GltfBuilder builder = TooLargeScene();
  EXPECT_THAT(ErrorOf(builder.Glb()),
              HasSubstr("/skins/0/inverseBindMatrices: the matrices and positions are too large"));
  EXPECT_EQ(ErrorOf(builder.Glb(), {{"quantize", false}}), "OK");
}

TEST_F(MeshCookerTest, InstancedMeshesKeepFloatPositions) {
  GltfBuilder builder = CubeScene();
  const size_t places = builder.AddFloats("VEC3", {0, 0, 0, 5, 0, 0});
  builder.json["nodes"][0]["extensions"] = {
      {"EXT_mesh_gpu_instancing", {{"attributes", {{"TRANSLATION", places}}}}}};
  builder.json["extensionsUsed"] = {"EXT_mesh_gpu_instancing"};
  const GlbFile file = Cook(builder.Glb());
  const json& node = file.json["nodes"][0];
  const json& primitive = file.json["meshes"][0]["primitives"][0];
  EXPECT_EQ(file.json["nodes"].size(), 1u);
  EXPECT_EQ(
      file.json["accessors"][primitive["attributes"]["POSITION"].get<size_t>()]["componentType"],
      5126);
  EXPECT_THAT(
      ReadValues(
          file,
          node["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["TRANSLATION"].get<size_t>()),
      ElementsAre(0, 0, 0, 5, 0, 0));
}

TEST_F(MeshCookerTest, AnimationsOfWeightsFollowTheMesh) {
  const GlbFile file = Cook(MorphScene().Glb());
  const json& node = file.json["nodes"][1];
  EXPECT_EQ(node["mesh"], 0);
  EXPECT_EQ(node["weights"], json({0.5, 0.25}));
  EXPECT_FALSE(file.json["nodes"][0].contains("weights"));
  EXPECT_EQ(file.json["animations"][0]["channels"][0]["target"]["node"], 1);
  EXPECT_EQ(file.json["meshes"][0]["extras"]["targetNames"][1], "stretch");
}

TEST_F(MeshCookerTest, AnimationsAreKeptAsTheyAre) {
  const GlbFile file = Cook(SkinnedScene().Glb());
  const json& animation = file.json["animations"][0];
  EXPECT_EQ(animation["name"], "nod");
  EXPECT_EQ(animation["channels"][0]["target"], json({{"node", 2}, {"path", "rotation"}}));
  const size_t input = animation["samplers"][0]["input"].get<size_t>();
  EXPECT_THAT(ReadValues(file, input), ElementsAre(0, 0.5, 1));
  EXPECT_EQ(file.json["accessors"][input]["max"], json({1.0}));
}

TEST_F(MeshCookerTest, QuantisedFormatsAreSmallAndDeclared) {
  const GlbFile file = Cook(SkinnedScene().Glb());
  EXPECT_EQ(file.json["extensionsRequired"], json({"KHR_mesh_quantization"}));
  const json& attributes = file.json["meshes"][0]["primitives"][0]["attributes"];
  const auto format = [&](const char* semantic) {
    const json& accessor = file.json["accessors"][attributes[semantic].get<size_t>()];
    return std::pair(accessor["componentType"].get<int>(), accessor.value("normalized", false));
  };
  EXPECT_EQ(format("POSITION"), std::pair(5123, false));
  EXPECT_EQ(format("NORMAL"), std::pair(5120, true));
  EXPECT_EQ(format("TEXCOORD_0"), std::pair(5123, true));
  EXPECT_EQ(format("JOINTS_0"), std::pair(5121, false));
  EXPECT_EQ(format("WEIGHTS_0"), std::pair(5121, true));
  const std::vector<double> weights = ReadValues(file, attributes["WEIGHTS_0"].get<size_t>());
  const std::vector<double> joints = ReadValues(file, attributes["JOINTS_0"].get<size_t>());
  for (size_t i = 0; i < weights.size(); i += 4) {
    EXPECT_EQ(std::lround(255 * (weights[i] + weights[i + 1] + weights[i + 2] + weights[i + 3])),
              255);
    for (size_t k = 0; k < 4; ++k) EXPECT_TRUE(weights[i + k] > 0 || joints[i + k] == 0);
  }
}

TEST_F(MeshCookerTest, WithoutQuantisationFormatsStay) {
  const GlbFile file = Cook(SkinnedScene().Glb(), {{"quantize", false}});
  EXPECT_FALSE(file.json.contains("extensionsRequired"));
  EXPECT_EQ(file.json["nodes"].size(), 3u);
  for (const json& accessor : file.json["accessors"]) {
    EXPECT_TRUE(accessor["type"] != "VEC3" || accessor["componentType"] == 5126);
  }
}

TEST_F(MeshCookerTest, TextureCoordinatesBeyondOneAndColoursKeepTheirRange) {
  GltfBuilder builder;
  Surface cube = Cube();
  for (float& texcoord : cube.texcoords) texcoord *= 3;
  json primitive = AddSurface(builder, cube);
  std::vector<float> fine(24 * 4, 0.3333f);
  std::vector<float> coarse(24 * 3, 51 / 255.0f);
  std::vector<float> bright(24 * 4, 4);
  primitive["attributes"]["COLOR_0"] = builder.AddFloats("VEC4", fine);
  primitive["attributes"]["COLOR_1"] = builder.AddFloats("VEC3", coarse);
  primitive["attributes"]["COLOR_2"] = builder.AddFloats("VEC4", bright);
  primitive["attributes"]["_HEAT"] = builder.AddFloats("SCALAR", std::vector<float>(24, 1.5));
  builder.AddMesh(primitive);
  ExpectSame(builder, kQuantised);
  const GlbFile file = Cook(builder.Glb());
  const json& attributes = file.json["meshes"][0]["primitives"][0]["attributes"];
  const auto component = [&](const char* semantic) {
    return file.json["accessors"][attributes[semantic].get<size_t>()]["componentType"].get<int>();
  };
  EXPECT_EQ(component("TEXCOORD_0"), 5126);
  EXPECT_EQ(component("COLOR_0"), 5123);
  EXPECT_EQ(component("COLOR_1"), 5121);
  EXPECT_EQ(component("COLOR_2"), 5126);
  EXPECT_EQ(component("_HEAT"), 5126);
}

TEST_F(MeshCookerTest, NegativeZerosAreZeros) {
  Surface square;
  square.positions = {0, 0, 0, 1, 0, 0, 1, 1, 0, -0.0f, 0, 0, 1, 1, -0.0f, 0, 1, 0};
  square.normals = {0, 0, 1, 0, 0, 1, 0, 0, 1, -0.0f, 0, 1, 0, 0, 1, 0, 0, 1};
  square.texcoords = {0, 0, 1, 0, 1, 1, 0, -0.0f, 1, 1, 0, 1};
  square.indices = {0, 1, 2, 3, 4, 5};
  GltfBuilder builder;
  builder.AddMesh(AddSurface(builder, square));
  for (const bool quantize : {false, true}) {
    EXPECT_THAT(Run(builder.Glb(), {{"quantize", quantize}})->tags(),
                Contains(Pair("vertices", VariantWith<double>(4))));
  }
}

TEST_F(MeshCookerTest, WrongSettingsAreNamed) {
  const std::string cube = CubeScene().Glb();
  EXPECT_THAT(ErrorOf(cube, {{"lods", {0.5, 0.5}}}), HasSubstr("setting \"lods\": 0.5"));
  EXPECT_THAT(ErrorOf(cube, {{"lods", {1.5}}}), HasSubstr("setting \"lods\": 1.5"));
  EXPECT_THAT(ErrorOf(cube, {{"lod_error", -1}}), HasSubstr("setting \"lod_error\""));
}

TEST_F(MeshCookerTest, MaterialsNameTheirTexturesAsWritten) {
  const auto context = Run(MaterialsScene().Glb());
  ASSERT_TRUE(status_.ok()) << status_;
  const GlbFile file = ReadGlbFile(context->output(".glb"));
  for (const char* gone : {"images", "textures", "samplers"})
    EXPECT_FALSE(file.json.contains(gone));
  const json& wall = file.json["materials"][0];
  EXPECT_EQ(wall["pbrMetallicRoughness"], json({{"baseColorFactor", {1, 0.5, 0.25, 1}}}));
  EXPECT_EQ(wall["extras"]["surface"], "stone");
  EXPECT_EQ(wall["extras"]["galley"], json::parse(R"({
      "baseColor": {"texture": "tex/brick wall.png", "texcoord": 0,
                    "sampler": {"wrapS": 33071, "magFilter": 9728},
                    "transform": {"scale": [2, 2]}},
      "metallicRoughness": {"texture": "_gen/Bark_Rough.png", "texcoord": 0},
      "normal": {"texture": "_gen/image_2.png", "texcoord": 0, "scale": 0.75},
      "occlusion": {"texture": "_gen/Bark_Rough.png", "texcoord": 0, "strength": 0.5}})"));
  const json& glass = file.json["materials"][1];
  EXPECT_EQ(glass["extensions"]["KHR_materials_clearcoat"], json({{"clearcoatFactor", 1}}));
  EXPECT_EQ(glass["extras"]["galley"]["clearcoat"]["texture"], "_gen/Bark_Rough.png");
  EXPECT_EQ(glass["extras"]["galley"]["emissive"]["texture"], "_gen/Bark_Rough_color.png");
}

TEST_F(MeshCookerTest, ImagesAreReferencesOrGeneratedPackagesByUse) {
  const auto context = Run(MaterialsScene().Glb());
  std::vector<std::string> references;
  for (const record::Reference& reference : context->references()) {
    EXPECT_EQ(reference.kind, record::ReferenceKind::kHard);
    references.push_back(reference.path);
  }
  EXPECT_THAT(references, UnorderedElementsAre("tex/brick wall.png", "_gen/Bark_Rough.png",
                                               "_gen/image_2.png", "_gen/Bark_Rough_color.png"));
  std::map<std::string, std::string> settings;
  for (const auto& [name, package] : context->generated()) {
    EXPECT_EQ(package.cooker, "texture");
    EXPECT_EQ(package.bytes, TinyPng());
    settings[name] = package.settings_json;
  }
  EXPECT_THAT(settings,
              UnorderedElementsAre(
                  Pair("_gen/Bark_Rough.png", R"({"color_space":"linear","usage":"color"})"),
                  Pair("_gen/Bark_Rough_color.png", R"({"color_space":"srgb","usage":"color"})"),
                  Pair("_gen/image_2.png", R"({"usage":"normal"})")));
}

TEST_F(MeshCookerTest, NoPlatformIsLookedAt) {
  EXPECT_THAT(Run(MaterialsScene().Glb())->looks(), IsEmpty());
}

TEST_F(MeshCookerTest, BuffersMayLieOutside) {
  const GltfBuilder builder = CubeScene();
  const auto context =
      Run(builder.Gltf("sub/my%20cube.bin"), {}, {{"/Game/m/sub/my cube.bin", builder.buffer}});
  ASSERT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(context->looks(), ElementsAre("file(sub/my cube.bin)"));
  EXPECT_EQ(context->output(".glb"), CookBytes(builder.Glb()));
  EXPECT_EQ(CookBytes(builder.Gltf()), CookBytes(builder.Glb()));
}

TEST_F(MeshCookerTest, AMissingBufferIsNamedAndObserved) {
  const auto context = Run(CubeScene().Gltf("cube.bin"));
  EXPECT_EQ(status_.message(), "/buffers/0/uri: there is no file \"cube.bin\"");
  EXPECT_TRUE(absl::IsInvalidArgument(status_));
  EXPECT_THAT(context->looks(), ElementsAre("file(cube.bin)"));
}

TEST_F(MeshCookerTest, APointerOfGitLfsIsNamedAsWhatItIs) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n";
  Run(pointer);
  EXPECT_EQ(status_.message(), "the file is a Git LFS pointer; run `git lfs pull`");
  Run(CubeScene().Gltf("cube.bin"), {}, {{"/Game/m/cube.bin", pointer}});
  EXPECT_EQ(status_.message(),
            "/buffers/0/uri: \"cube.bin\": the file is a Git LFS pointer; run `git lfs pull`");
}

TEST_F(MeshCookerTest, TagsTellOfTheMesh) {
  const auto context = Run(SkinnedScene().Glb());
  const auto& tags = context->tags();
  EXPECT_THAT(tags, Contains(Pair("triangles", VariantWith<double>(240))));
  EXPECT_THAT(tags, Contains(Pair("vertices", VariantWith<double>(147))));
  for (const char* one : {"meshes", "skins", "animations"})
    EXPECT_THAT(tags, Contains(Pair(one, VariantWith<double>(1))));
  EXPECT_THAT(Run(CubeScene().Glb())->tags(),
              Contains(Pair("bounds", VariantWith<std::string>("9 -1 -1 11 1 1"))));
}

TEST_F(MeshCookerTest, CamerasAndScenesAreKeptAndTheDefaultSceneHasTheBounds) {
  GltfBuilder builder = CubeScene();
  builder.json["cameras"] = json::parse(R"([
      {"name": "eye", "type": "perspective",
       "perspective": {"yfov": 0.66, "znear": 0.01, "aspectRatio": 1.5}, "extras": {"shake": 2}},
      {"type": "orthographic",
       "orthographic": {"xmag": 2, "ymag": 1, "znear": 0, "zfar": 10}}])");
  builder.json["nodes"][0]["camera"] = 1;  // a node with a mesh has a camera, too
  builder.json["nodes"].push_back({{"camera", 0}, {"translation", {0, 2, 5}}});
  builder.json["nodes"].push_back({{"mesh", 0}, {"scale", {2, 2, 2}}});
  builder.json["scenes"] = json::parse(R"([
      {"name": "near", "nodes": [0, 1]}, {"name": "far", "nodes": [2, 1], "extras": {"fog": 1}},
      {"name": "empty"}])");
  builder.json["scene"] = 1;
  for (const bool quantize : {false, true}) {
    const auto context = Run(builder.Glb(), {{"quantize", quantize}, {"lods", {0.5}}});
    ASSERT_TRUE(status_.ok()) << status_;
    for (const char* suffix : {".glb", ".d/lod1.glb"}) {
      const GlbFile file = ReadGlbFile(context->output(suffix));
      for (const char* key : {"cameras", "scenes", "scene"})
        EXPECT_EQ(file.json[key], builder.json[key]) << key << quantize;
      EXPECT_EQ(file.json["nodes"][0]["camera"], 1);
      EXPECT_EQ(file.json["nodes"][1], builder.json["nodes"][1]);
    }
    EXPECT_THAT(context->tags(),
                Contains(Pair("bounds", VariantWith<std::string>("18 -2 -2 22 2 2"))));
  }
  builder.json["nodes"][0]["camera"] = 2;
  EXPECT_EQ(ErrorOf(builder.Glb()), "/nodes/0/camera: 2 is out of range: /cameras has 2");
  builder.json["nodes"][0]["camera"] = 0;
  builder.json["scene"] = 3;
  EXPECT_EQ(ErrorOf(builder.Glb()), "/scene: 3 is out of range: /scenes has 3");
}

TEST_F(MeshCookerTest, BoundsThatAreNoNumbersAreNotTold) {
  GltfBuilder builder = CubeScene();
  json& node = builder.json["nodes"][0];
  node["scale"] = {1e300, 1e300, 1e300};
  builder.json["nodes"].push_back({{"scale", {-1e300, 1e300, 0}}, {"children", {0}}});
  builder.json["scenes"][0]["nodes"] = {1};
  const auto context = Run(builder.Glb());
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_FALSE(context->tags().contains("bounds"));
}

TEST_F(MeshCookerTest, OneLoadServesSeveralPlatforms) {
  const std::string source = MaterialsScene().Glb();
  FakeCookContext loading(cooker_->description(), "/Game/m/a.glb", source);
  auto loaded = cooker_->Load(loading);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  for (int platform = 0; platform < 2; ++platform) {
    FakeCookContext context(cooker_->description(), "/Game/m/a.glb", source);
    ASSERT_TRUE(cooker_->Cook(context, **loaded).ok());
    EXPECT_EQ(context.output(".glb"), CookBytes(source));
  }
}

TEST_F(MeshCookerTest, AFailureIsTheSameForEveryPlatform) {
  const std::string source = TooLargeScene().Glb();
  FakeCookContext loading(cooker_->description(), "/Game/m/a.glb", source);
  auto loaded = cooker_->Load(loading);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  for (int platform = 0; platform < 2; ++platform) {
    FakeCookContext context(cooker_->description(), "/Game/m/a.glb", source);
    EXPECT_TRUE(absl::IsInvalidArgument(cooker_->Cook(context, **loaded))) << platform;
  }
}

TEST_F(MeshCookerTest, TooLittleMemoryIsNoVerdict) {
  FakeCookContext context(cooker_->description(), "/Game/m/a.glb", CubeScene().Glb());
  context.set_memory_bytes_max(1000);
  const absl::Status status = LoadAndCook(*cooker_, context);
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
}

TEST_F(MeshCookerTest, TheIdentityNamesTheLibrary) {
  EXPECT_THAT(cooker_->description().identity,
              testing::MatchesRegex("6;meshoptimizer=[0-9.]+-[0-9a-z]+"));
}

// Bytes that changed need a new kRevision in mesh_cooker.cc, unless only a library changed.
// GALLEY_UPDATE_GOLDENS=1 rewrites the file.
TEST_F(MeshCookerTest, OutputsAreTheGoldenOnes) {
  std::string found;
  const auto add = [&](const char* name, const GltfBuilder& builder, const json& settings) {
    const auto context = Run(builder.Glb(), settings);
    ASSERT_TRUE(status_.ok()) << name << ": " << status_;
    for (const auto& [suffix, file] : context->outputs())
      found += std::string(name) + suffix + " " + Digest::Of(file.bytes).ToString() + "\n";
  };
  GltfBuilder waves;
  waves.AddMesh(AddSurface(waves, Waves(30, 20)));
  add("cube", CubeScene(), json::object());
  add("cube-float", CubeScene(), {{"quantize", false}});
  add("skinned", SkinnedScene(), json::object());
  add("morph", MorphScene(), json::object());
  add("materials", MaterialsScene(), json::object());
  add("waves", waves, {{"lods", {0.5, 0.1}}});
  add("halves", HalvesScene(), {{"lods", {0.5, 0.1}}, {"lod_error", 1}});
  const std::string path =
      std::string(GALLEY_SOURCE_DIR) + "/worker/cookers/mesh/testdata/goldens.txt";
  if (std::getenv("GALLEY_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, found).ok());
  }
  const absl::StatusOr<std::string> golden = ReadFile(path);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(found, *golden);
}

TEST_F(MeshCookerTest, TheSettingsNameTheLevelsOfDetail) {
  const auto names = [&](const char* settings) {
    return record::OutputNamesOf(cooker_->description(), settings, {});
  };
  EXPECT_THAT(names(R"({"lods":[]})").always, ElementsAre(".glb"));
  EXPECT_THAT(names(R"({"lods":[0.5,0.25]})").always,
              ElementsAre(".d/lod1.glb", ".d/lod2.glb", ".glb"));
  EXPECT_FALSE(names("{}").has_more);
  EXPECT_TRUE(names("{}").may_generate);
}

}  // namespace
}  // namespace galley::worker::mesh
