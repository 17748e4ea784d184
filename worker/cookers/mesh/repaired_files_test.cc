// Files that break a rule of glTF: their parts are left out, repaired, or told of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/cookers/mesh/testing/mesh_cooking.h"

namespace galley::worker::mesh {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RepairedFilesTest : public MeshCooking {};

TEST_F(RepairedFilesTest, VersionsThatNeedMoreThan2Point0AreRefused) {
  const auto error = [&](const json& asset) {
    return ErrorOf(Changed([&](json& g) { g["asset"] = asset; }));
  };
  EXPECT_EQ(error({{"version", "2.0"}, {"minVersion", "2.0"}}), "OK");
  EXPECT_EQ(error({{"version", "2.1"}, {"minVersion", "2.0"}}), "OK");
  EXPECT_EQ(error({{"version", "3.0"}, {"minVersion", "2.0"}}), "OK");
  EXPECT_EQ(error({{"version", "2.1"}}), "OK");
  EXPECT_EQ(error({{"version", "2.1"}, {"minVersion", "2.1"}}),
            "/asset/minVersion: the file needs a reader of glTF 2.1, and this cooker reads 2.0; "
            "export it as glTF 2.0");
  for (const char* least : {"2.10", "3.0", "10.0"}) {
    EXPECT_THAT(error({{"version", "2.0"}, {"minVersion", least}}),
                HasSubstr("/asset/minVersion: the file needs a reader of glTF "));
  }
  for (const char* version : {"1.0", "3.0", "0.9", "20.0"}) {
    EXPECT_EQ(error({{"version", version}}),
              "/asset/version: expected 2.0, not " + std::string(version));
  }
  EXPECT_EQ(error({{"version", "1.0"}, {"minVersion", "2.0"}}),
            "/asset/version: expected 2.0, not 1.0");
  for (const char* odd :
       {"2", "2.", ".0", "2.0.0", "2.x", "two", "", " 2.0", "-2.0", "2.0 ", "99999999999.0"}) {
    EXPECT_EQ(error({{"version", odd}}), "/asset/version: expected 2.0, not \"" + std::string(odd) +
                                             "\", which is no version (PATTERN_MISMATCH)");
    EXPECT_THAT(error({{"version", "2.0"}, {"minVersion", odd}}),
                HasSubstr("/asset/minVersion: expected 2.0, not "));
  }
  EXPECT_EQ(error({{"version", 2.0}}), "/asset/version: expected a string, not 2.0");
}

TEST_F(RepairedFilesTest, NewerVersionsThatMayBeReadAreTold) {
  const auto warnings = [&](const json& asset) {
    return Run(Changed([&](json& g) { g["asset"] = asset; }))->warnings();
  };
  EXPECT_THAT(warnings({{"version", "2.0"}, {"minVersion", "2.0"}}), IsEmpty());
  EXPECT_THAT(warnings({{"version", "2.1"}}),
              ElementsAre("/asset/version: the file is of glTF 2.1, and is read as 2.0 "
                          "(UNKNOWN_ASSET_MINOR_VERSION)"));
  EXPECT_THAT(warnings({{"version", "3.0"}, {"minVersion", "2.0"}}),
              ElementsAre("/asset/version: the file is of glTF 3.0, and is read as 2.0 "
                          "(UNKNOWN_ASSET_MAJOR_VERSION)"));
}

TEST_F(RepairedFilesTest, PrimitivesWithoutPositionAreLeftOut) {
  const char* const said =
      ": the primitive has no POSITION; it is left out "
      "(MESH_PRIMITIVE_NO_POSITION)";
  for (const bool is_first : {true, false}) {
    GltfBuilder builder = CubeScene();
    json& primitives = builder.json["meshes"][0]["primitives"];
    json bare = primitives[0];
    bare["attributes"].erase("POSITION");
    bare["mode"] = 99;  // nobody looks
    primitives.insert(is_first ? primitives.begin() : primitives.end(), bare);
    const auto context = Run(builder.Glb(), {{"lods", {0.5}}});
    ASSERT_TRUE(status_.ok()) << status_;
    EXPECT_THAT(context->warnings(),
                ElementsAre(std::string("/meshes/0/primitives/") + (is_first ? "0" : "1") + said));
    EXPECT_EQ(context->output(".glb"), CookBytes(CubeScene().Glb()));
  }
}

TEST_F(RepairedFilesTest, MeshesOfWhichNothingIsLeftAreLeftOut) {
  GltfBuilder builder = CubeScene();
  json& g = builder.json;
  g["meshes"].insert(g["meshes"].begin(),
                     json::parse(R"({"primitives": [{"attributes": {"NORMAL": 1}}, {}]})"));
  g["meshes"].push_back({{"name", "none"}});
  g["nodes"] = json::parse(R"([{"mesh": 1}, {"mesh": 0, "weights": [1]}, {"mesh": 2}])");
  g["scenes"][0]["nodes"] = {0, 1, 2};
  const size_t times = builder.AddFloats("SCALAR", {0, 1}, true);
  const size_t weights = builder.AddFloats("SCALAR", {0, 1});
  g["animations"] = json::parse(R"([{"samplers": [{}], "channels": [
      {"sampler": 0, "target": {"node": 1, "path": "weights"}}]}])");
  g["animations"][0]["samplers"][0] = {{"input", times}, {"output", weights}};
  const auto context = Run(builder.Glb());
  ASSERT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(
      context->warnings(),
      ElementsAre("/meshes/0/primitives/0 and 1 other place: the primitive has no POSITION; it is "
                  "left out (MESH_PRIMITIVE_NO_POSITION)",
                  "/meshes/0 and 1 other place: the mesh has nothing to draw; it is left out "
                  "(EMPTY_ENTITY)",
                  "/animations/0/channels/0: its node has no mesh with morph targets; the channel "
                  "is left out (ANIMATION_CHANNEL_TARGET_NODE_WEIGHTS_NO_MORPHS)"));
  const GlbFile file = ReadGlbFile(context->output(".glb"));
  EXPECT_EQ(file.json["meshes"].size(), 1);
  EXPECT_EQ(file.json["nodes"][1], json::object());
  EXPECT_FALSE(file.json.contains("animations"));
  EXPECT_EQ(
      Compare(ReadTriangles(ReadGlbFile(CookBytes(CubeScene().Glb()))), ReadTriangles(file), {}),
      "");
}

TEST_F(RepairedFilesTest, AFileOfNothingThatIsDrawnIsCooked) {
  const auto context = Run(Changed([](json& g) {
    g["meshes"][0]["primitives"][0]["attributes"] = {{"NORMAL", 1}};
  }));
  ASSERT_TRUE(status_.ok()) << status_;
  const GlbFile file = ReadGlbFile(context->output(".glb"));
  EXPECT_FALSE(file.json.contains("meshes"));
  EXPECT_EQ(file.json["nodes"], json::parse("[{}]"));
}

// The list of scene nodes: what becomes of it, and of the nodes' children.
TEST_F(RepairedFilesTest, ScenesMayNameNodesThatAreNoRoots) {
  const auto cooked = [&](const char* nodes, const char* scenes) {
    GltfBuilder builder = CubeScene();
    builder.json["nodes"] = json::parse(nodes);
    builder.json["scenes"] = json::parse(scenes);
    const auto context = Run(builder.Glb(), {{"quantize", false}});
    EXPECT_TRUE(status_.ok()) << status_;
    json lists = json::array();
    const json file = ReadGlbFile(context->output(".glb")).json;
    for (const json& scene : file["scenes"]) lists.push_back(scene["nodes"]);
    for (const json& node : file["nodes"])
      lists.push_back(node.contains("children") ? node["children"] : json());
    return std::pair(lists.dump(), context->warnings());
  };
  const std::string places =
      "/scenes/0/nodes/1: the node is no root, and the scene shows one that "
      "it is below; it is left out of the list (SCENE_NON_ROOT_NODE)";
  const char* const chain = R"([{"children": [1]}, {"children": [2]}, {"mesh": 0}])";
  EXPECT_EQ(cooked(chain, R"([{"nodes": [0, 1]}])"),
            std::pair(std::string("[[0],[1],[2],null]"), std::vector<std::string>{places}));
  EXPECT_EQ(cooked(chain, R"([{"nodes": [2, 0]}])").first, "[[0],[1],[2],null]");
  EXPECT_EQ(cooked(chain, R"([{"nodes": [1, 2]}])").first, "[[1],null,[2],null]");
  EXPECT_THAT(
      cooked(chain, R"([{"nodes": [2]}])"),
      testing::Pair("[[2],[1],null,null]",
                    ElementsAre("/scenes/0/nodes/0: the node is no root, and no scene shows "
                                "its parent; it becomes a root (SCENE_NON_ROOT_NODE)")));
  EXPECT_EQ(cooked(chain, R"([{"nodes": [2]}, {"nodes": [2]}])").first, "[[2],[2],[1],null,null]");
  EXPECT_THAT(cooked(chain, R"([{"nodes": [0]}, {"nodes": [2]}])"),
              testing::Pair("[[0],[2],[1],[2],null]",
                            ElementsAre(HasSubstr("another scene shows its parent; the list stays "
                                                  "as it is (SCENE_NON_ROOT_NODE)"))));
}

TEST_F(RepairedFilesTest, AMatrixGoesBeforeTheOtherTransforms) {
  const GlbFile file = Cook(Changed([](json& g) {
    g["nodes"][0] = json::parse(R"({"mesh": 0, "scale": [9, 9, 9], "translation": [7, 0, 0],
                                "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]})");
  }));
  EXPECT_EQ(file.json["nodes"][0]["matrix"][12], 5);
  EXPECT_FALSE(file.json["nodes"][0].contains("scale"));
  EXPECT_FALSE(file.json["nodes"][0].contains("translation"));
}

// Exporters write any number for such a joint.
TEST_F(RepairedFilesTest, JointsWithoutAWeightMayBeOutOfRange) {
  const auto cook = [&](const std::vector<float>& weights) {
    GltfBuilder builder = SkinnedScene();
    std::vector<uint32_t> joints;
    for (size_t i = 0; i < kWaveVertices; ++i) joints.insert(joints.end(), {0, 255, 1, 99});
    builder.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] =
        builder.AddIntegers("VEC4", 5121, joints);
    PutFloats(builder, "WEIGHTS_0", "VEC4", kWaveVertices, weights);
    return ErrorOf(builder.Glb());
  };
  EXPECT_EQ(cook({0.5f, 0, 0.5f, 0}), "OK");
  EXPECT_THAT(cook({0.5f, 0.5f, 0, 0}), HasSubstr("JOINTS_0: joint 255, and /skins/0"));
}

TEST_F(RepairedFilesTest, VertexDataIsRepairedWithoutQuantisation) {
  GltfBuilder builder = SkinnedScene();
  PutFloats(builder, "NORMAL", "VEC3", kWaveVertices, {0, 4, 0});
  PutFloats(builder, "TANGENT", "VEC4", kWaveVertices, {3, 0, 0, -0.5f});
  PutFloats(builder, "WEIGHTS_0", "VEC4", kWaveVertices, {2, -1, 2, 4});  // of joints 0, 1, 1, 0
  const GlbFile file = Cook(builder.Glb(), {{"quantize", false}});
  const json& attributes = file.json["meshes"][0]["primitives"][0]["attributes"];
  const auto first = [&](const char* name, size_t count) {
    std::vector<double> values = ReadValues(file, attributes[name].get<size_t>());
    values.resize(count);
    return values;
  };
  EXPECT_THAT(first("NORMAL", 3), ElementsAre(0, 1, 0));
  EXPECT_THAT(first("TANGENT", 4), ElementsAre(1, 0, 0, -1));
  EXPECT_THAT(first("WEIGHTS_0", 4), ElementsAre(0.75, 0, 0.25, 0));
  EXPECT_THAT(first("JOINTS_0", 4), ElementsAre(0, 0, 1, 0));
}

TEST_F(RepairedFilesTest, WeightsOfIntegersSumToOneWithoutQuantisation) {
  GltfBuilder builder = SkinnedScene();
  std::vector<uint32_t> weights;
  for (size_t i = 0; i < kWaveVertices; ++i) weights.insert(weights.end(), {100, 100, 0, 0});
  builder.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] =
      builder.AddIntegers("VEC4", 5123, weights, true);
  const GlbFile file = Cook(builder.Glb(), {{"quantize", false}});
  const json& attributes = file.json["meshes"][0]["primitives"][0]["attributes"];
  const std::vector<double> read = ReadValues(file, attributes["WEIGHTS_0"].get<size_t>());
  EXPECT_NEAR(read[0] + read[1], 1, 1e-9);
}

// Equal findings at many places are told in one line, whatever the values are.
TEST_F(RepairedFilesTest, EqualFindingsAreOneWarning) {
  const auto context = Run(Changed([](json& g) {
    for (int i = 1; i < 100; ++i) {
      g["nodes"].push_back({{"rotation", {0, i, 0, 0}}});
      g["scenes"][0]["nodes"].push_back(i);
      g["nodes"][i]["translation"] = {i};
    }
  }));
  EXPECT_EQ(context->warnings().size(), 3);  // the rotations' range, too
  EXPECT_THAT(context->warnings(), Contains(HasSubstr("and 98 other places: ")));
}

}  // namespace
}  // namespace galley::worker::mesh
