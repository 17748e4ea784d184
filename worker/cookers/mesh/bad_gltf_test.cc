// Files that no exporter writes: an error names the place of the flaw, in bounded time and memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "worker/cookers/mesh/testing/mesh_cooking.h"

namespace galley::worker::mesh {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::VariantWith;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class BadGltfTest : public MeshCooking {
 protected:
  template <typename Change>
  std::string ErrorAfter(const Change& change) {
    return ErrorOf(Changed(change));
  }
};

TEST_F(BadGltfTest, StridesLieFrom4To252AndHoldAnElement) {
  const auto error = [&](int stride) {
    return ErrorAfter([&](json& g) { g["bufferViews"][1]["byteStride"] = stride; });
  };
  EXPECT_EQ(error(0), "/bufferViews/1/byteStride: 0 is less than 4");
  EXPECT_EQ(error(255), "/bufferViews/1/byteStride: expected an integer from 0 to 252, not 255");
  const std::string normal = "/meshes/0/primitives/0/attributes/NORMAL: /accessors/1: ";
  EXPECT_EQ(error(8), normal + "an element has 12 bytes, and the buffer view a stride of 8");
  EXPECT_EQ(error(252), normal + "its 24 elements end at byte 5808 of a buffer view that has 288");
}

TEST_F(BadGltfTest, SparseIndicesRiseAndLieWithinTheAccessor) {
  const auto error = [&](int component, const std::vector<uint32_t>& indices, size_t count) {
    GltfBuilder builder = CubeScene();
    const size_t list = builder.AddIntegers("SCALAR", component, indices);
    const json view = builder.json["accessors"][list]["bufferView"];
    const size_t values = builder.AddView(std::string(indices.size() * 12, '\0'));
    builder.json["accessors"][0]["sparse"] = {
        {"count", count},
        {"indices", {{"bufferView", view}, {"componentType", component}}},
        {"values", {{"bufferView", values}}}};
    return ErrorOf(builder.Glb());
  };
  const std::string sparse = "/meshes/0/primitives/0/attributes/POSITION: /accessors/0/sparse";
  EXPECT_EQ(error(5123, {2, 23}, 2), "OK");
  EXPECT_EQ(error(5123, {2, 24}, 2),
            sparse + "/indices: index 1 is 24; expected rising indices below 24");
  EXPECT_EQ(error(5125, {2, UINT32_MAX}, 2),
            sparse + "/indices: index 1 is 4294967295; expected rising indices below 24");
  EXPECT_EQ(error(5123, {5, 5}, 2),
            sparse + "/indices: index 1 is 5; expected rising indices below 24");
  EXPECT_EQ(error(5121, {5, 2}, 2),
            sparse + "/indices: index 1 is 2; expected rising indices below 24");
  EXPECT_EQ(error(5122, {1, 2}, 2), sparse + "/indices/componentType: expected 5121, 5123 or 5125");
  EXPECT_EQ(error(5123, {1, 2}, 3),
            sparse + "/indices: its 3 elements end at byte 6 of a buffer view that has 4");
  EXPECT_EQ(error(5123, {1, 2}, 25), sparse + "/count: expected an integer from 0 to 24, not 25");
}

// Counts without bytes would fill the machine's memory with zeros: they are refused.
TEST_F(BadGltfTest, CountsWithoutBytesAreFlaws) {
  constexpr uint64_t kMany = 100'000'000;
  EXPECT_EQ(ErrorAfter([&](json& g) {
              g["meshes"][0]["primitives"][0].erase("indices");
              for (size_t i = 0; i < 3; ++i) {
                g["accessors"][i].erase("bufferView");
                g["accessors"][i]["count"] = kMany;
              }
            }),
            "/meshes/0/primitives/0/attributes/NORMAL: it says that it has 100000000 elements, and "
            "the file has the bytes of 0; all others would be zeros");
  EXPECT_EQ(ErrorAfter([&](json& g) {
              g["accessors"][3].erase("bufferView");
              g["accessors"][3]["count"] = kMany;
            }),
            "/meshes/0/primitives/0/indices: /accessors/3: it says that it has 100000000 elements, "
            "and the file has the bytes of 0; all others would be zeros");
}

// A sparse count is believed only when its bytes are there: the elements would fill the machine's
// memory.
TEST_F(BadGltfTest, SparseCountsWithoutBytesAreFlaws) {
  constexpr uint64_t kMany = 100'000'000;
  const auto error = [&](size_t accessor, uint64_t count, size_t index_bytes, size_t value_bytes) {
    GltfBuilder builder = CubeScene();
    if (accessor < 3) builder.json["meshes"][0]["primitives"][0].erase("indices");
    const size_t indices = builder.AddView(std::string(index_bytes, '\0'));
    const size_t values = builder.AddView(std::string(value_bytes, '\0'));
    json& accessors = builder.json["accessors"];
    for (size_t i = 0; i < 3 && accessor < 3; ++i) {
      accessors[i].erase("bufferView");
      accessors[i]["count"] = kMany;
    }
    accessors[accessor].erase("bufferView");
    accessors[accessor]["count"] = kMany;
    accessors[accessor]["sparse"] = {
        {"count", count},
        {"indices", {{"bufferView", indices}, {"componentType", 5121}}},
        {"values", {{"bufferView", values}}}};
    return ErrorOf(builder.Glb());
  };
  const std::string position = "/meshes/0/primitives/0/attributes/POSITION: /accessors/0/sparse";
  EXPECT_EQ(error(0, kMany, 4, 12),
            position +
                "/indices: its 100000000 elements end at byte 100000000 of a buffer view "
                "that has 4");
  // A true count would allow the zeros of all other elements.
  EXPECT_EQ(error(0, 100'000, 4, 12),
            position +
                "/indices: its 100000 elements end at byte 100000 of a buffer view that "
                "has 4");
  EXPECT_EQ(error(0, 100'000, 100'000, 12),
            position +
                "/values: its 100000 elements end at byte 1200000 of a buffer view that "
                "has 12");
  EXPECT_EQ(error(3, 100'000, 4, 2),
            "/meshes/0/primitives/0/indices: /accessors/3/sparse/indices: its 100000 elements end "
            "at byte 100000 of a buffer view that has 4");
}

// Products beyond 32 or 64 bits are a flaw of the file, found before memory is taken for elements.
TEST_F(BadGltfTest, CountsThatOverflowAreFlawsAndTakeNoMemory) {
  constexpr uint64_t kMost = uint64_t{1} << 28;
  const auto with_count = [&](size_t accessor, uint64_t count) {
    return ErrorAfter([&](json& g) { g["accessors"][accessor]["count"] = count; });
  };
  EXPECT_EQ(with_count(3, UINT64_MAX),
            "/meshes/0/primitives/0/indices: /accessors/3/count: expected an integer from 0 to "
            "268435456, not 18446744073709551615");
  EXPECT_THAT(with_count(0, (uint64_t{1} << 32) / 12 + 1),  // 8 more than 2^32 bytes
              HasSubstr("/accessors/0/count: expected an integer from 0 to 268435456"));
  EXPECT_EQ(with_count(3, kMost),
            "/meshes/0/primitives/0/indices: /accessors/3: its 268435456 elements end at byte "
            "536870912 of a buffer view that has 72");
  // The counts are alike in all attributes, so that none contradicts another; without indices the
  // vertices are drawn in their order.
  EXPECT_EQ(ErrorAfter([&](json& g) {
              g["meshes"][0]["primitives"][0].erase("indices");
              for (size_t i = 0; i < 3; ++i) g["accessors"][i]["count"] = kMost;
            }),
            "/meshes/0/primitives/0/attributes/NORMAL: /accessors/1: its 268435456 elements end "
            "at byte 3221225472 of a buffer view that has 288");
  // 64 bytes for each matrix: 2^32 in all.
  GltfBuilder skinned = SkinnedScene();
  const size_t matrices = skinned.json["skins"][0]["inverseBindMatrices"].get<size_t>();
  skinned.json["accessors"][matrices]["count"] = uint64_t{1} << 26;
  EXPECT_THAT(ErrorOf(skinned.Glb()),
              HasSubstr("/skins/0/inverseBindMatrices: /accessors/6: its 67108864 elements end at "
                        "byte 4294967296 of a buffer view that has 128"));
  EXPECT_EQ(
      ErrorAfter([](json& g) { g["accessors"][3]["byteOffset"] = UINT64_MAX; }),
      "/meshes/0/primitives/0/indices: /accessors/3/byteOffset: expected an integer from 0 to "
      "1099511627776, not 18446744073709551615");
  EXPECT_THAT(ErrorAfter([](json& g) { g["bufferViews"][0]["byteOffset"] = uint64_t{1} << 40; }),
              HasSubstr("/bufferViews/0: bytes 1099511627776 to 1099511628064 of a buffer that"));
}

TEST_F(BadGltfTest, NumbersThatAreNotFiniteAreFlawsWhereverTheyStand) {
  const std::pair<float, std::string> numbers[] = {
      {std::numeric_limits<float>::quiet_NaN(), "nan"}, {kInfinity, "inf"}, {-kInfinity, "-inf"}};
  for (const auto& [number, text] : numbers) {
    Surface cube = Cube();
    cube.positions[4] = number;
    GltfBuilder builder;
    builder.AddMesh(AddSurface(builder, cube));
    EXPECT_EQ(ErrorOf(builder.Glb()),
              "/meshes/0/primitives/0/attributes/POSITION: /accessors/0: element 1 is not finite "
              "(" +
                  text + ")");
    GltfBuilder skinned = SkinnedScene();
    const size_t turns = skinned.AddFloats("VEC4", {0, 0, 0, 1, 0, 0, number, 1, 0, 0, 0, 1});
    skinned.json["animations"][0]["samplers"][0]["output"] = turns;
    EXPECT_EQ(ErrorOf(skinned.Glb()), "/animations/0/samplers/0/output: /accessors/" +
                                          std::to_string(turns) + ": element 1 is not finite (" +
                                          text + ")");
    GltfBuilder sparse = CubeScene();
    const size_t index = sparse.AddView(std::string(1, '\7'));
    const std::vector<float> moved = {0, number, 0};
    const size_t values = sparse.AddView({reinterpret_cast<const char*>(moved.data()), 12});
    sparse.json["accessors"][0]["sparse"] = {
        {"count", 1},
        {"indices", {{"bufferView", index}, {"componentType", 5121}}},
        {"values", {{"bufferView", values}}}};
    EXPECT_THAT(ErrorOf(sparse.Glb()), HasSubstr("element 7 is not finite (" + text + ")"));
  }
}

// A chain of `count` nodes, its root first or last; the leaf shows the cube.
std::string ChainOf(size_t count, bool is_root_first) {
  GltfBuilder builder = CubeScene();
  json nodes = json::array();
  for (size_t i = 0; i < count; ++i) nodes.push_back(json::object());
  for (size_t i = 1; i < count; ++i)
    nodes[is_root_first ? i - 1 : i]["children"] = {is_root_first ? i : i - 1};
  nodes[is_root_first ? count - 1 : 0]["mesh"] = 0;
  builder.json["nodes"] = std::move(nodes);
  builder.json["scenes"][0]["nodes"] = {is_root_first ? 0 : count - 1};
  return builder.Glb();
}

TEST_F(BadGltfTest, AHundredThousandNodesDeepIsCooked) {
  for (const bool is_root_first : {true, false}) {
    const auto context = Run(ChainOf(100'000, is_root_first));
    ASSERT_TRUE(status_.ok()) << status_;
    EXPECT_THAT(context->tags(), Contains(Pair("nodes", VariantWith<double>(100'000))));
    EXPECT_THAT(context->tags(),
                Contains(Pair("bounds", VariantWith<std::string>("9 -1 -1 11 1 1"))));
  }
}

TEST_F(BadGltfTest, NodesThatGoRoundAreNamedByOneOfTheCircle) {
  const auto error = [&](const char* nodes) {
    return ErrorAfter([&](json& g) {
      g["nodes"] = json::parse(nodes);
      g["scenes"][0]["nodes"] = json::array();
    });
  };
  EXPECT_EQ(error(R"([{"children": [0]}])"), "/nodes/0: the node is its own ancestor");
  EXPECT_EQ(error(R"([{"children": [1]}, {"children": [0]}])"),
            "/nodes/0: the node is its own ancestor");
  EXPECT_EQ(error(R"([{"children": [1]}, {"children": [2]}, {"children": [0]}])"),
            "/nodes/0: the node is its own ancestor");
  // Node 0 hangs on the circle of 1 and 2, but is no part of it.
  EXPECT_EQ(error(R"([{}, {"children": [0, 2]}, {"children": [1]}])"),
            "/nodes/1: the node is its own ancestor");
  EXPECT_EQ(error(R"([{"children": [2]}, {"children": [2]}, {}])"),
            "/nodes/1/children: node 2 is a child of node 0 already");
  EXPECT_EQ(ErrorAfter([](json& g) {
              for (size_t i = 0; i < 100'000; ++i) g["nodes"][i]["children"] = {(i + 1) % 100'000};
              g["scenes"][0]["nodes"] = json::array();
            }),
            "/nodes/0: the node is its own ancestor");
}

TEST_F(BadGltfTest, UrisLeadNowhereButToFilesOfTheMounts) {
  const auto error = [&](const char* uri) { return ErrorOf(CubeScene().Gltf(uri)); };
  for (const std::string uri : {"file:///etc/passwd", "FILE:/etc/passwd",
                                "http://example.org/a.bin", "C:/a.bin", "javascript:0"}) {
    EXPECT_EQ(error(uri.c_str()), "/buffers/0/uri: \"" + uri +
                                      "\" is not a relative path; put the file beside the source");
  }
  for (const char* uri : {"/../a.bin", "%2F%2E%2E%2Fa.bin", "\\..\\a.bin", "/x/../../a.bin"}) {
    EXPECT_THAT(error(uri), HasSubstr("/buffers/0/uri: ")) << uri;
    EXPECT_THAT(error(uri), HasSubstr("leaves the mounts")) << uri;
  }
  EXPECT_EQ(error("../../a.bin"), "/buffers/0/uri: there is no file \"../../a.bin\"");
  EXPECT_EQ(error("/etc/passwd"), "/buffers/0/uri: there is no file \"/etc/passwd\"");
  EXPECT_EQ(error("//host/a.bin"), "/buffers/0/uri: there is no file \"//host/a.bin\"");
  json empty = json::parse(CubeScene().Gltf("a.bin"));
  empty["buffers"][0]["uri"] = "";
  EXPECT_EQ(ErrorOf(empty.dump()), "/buffers/0/uri: an empty URI; expected a relative path");
}

// A data URI above the job's limit is want of memory, not a verdict.
TEST_F(BadGltfTest, DataUrisCountAgainstTheJobsMemory) {
  const auto status = [&](const std::string& source, uint64_t memory) {
    FakeCookContext context(cooker_->description(), "/Game/m/a.gltf", source);
    context.set_memory_bytes_max(memory);
    return LoadAndCook(*cooker_, context);
  };
  GltfBuilder cube = CubeScene();
  cube.buffer.append(1 << 20, '\0');
  const absl::Status buffer = status(cube.Gltf(), 1 << 20);
  EXPECT_TRUE(absl::IsOutOfRange(buffer)) << buffer;
  EXPECT_EQ(buffer.message(),
            "/buffers/0/uri: not enough memory for this mesh (the job may use 1048576 bytes); "
            "raise `memory` in its rule");
  GltfBuilder textured = CubeScene();
  textured.json["images"] = json::parse(R"([{"uri": ""}])");
  textured.json["images"][0]["uri"] =
      "data:image/png;base64," + Base64(TinyPng() + std::string(1 << 20, '\0'));
  textured.json["textures"] = json::parse(R"([{"source": 0}])");
  textured.json["materials"] = json::parse(R"([{"emissiveTexture": {"index": 0}}])");
  const absl::Status image = status(textured.Glb(), 1 << 20);
  EXPECT_TRUE(absl::IsOutOfRange(image)) << image;
  EXPECT_THAT(std::string(image.message()), HasSubstr("/images/0/uri: not enough memory"));
  EXPECT_TRUE(status(textured.Glb(), 16 << 20).ok());
}

TEST_F(BadGltfTest, ChunksLieWithinTheGlb) {
  const std::string glb = CubeScene().Glb();
  const auto with_word = [&](size_t offset, uint32_t word) {
    std::string changed = glb;
    for (size_t i = 0; i < 4; ++i) changed[offset + i] = static_cast<char>(word >> (8 * i) & 0xff);
    return changed;
  };
  constexpr size_t kJsonLength = 12;
  const auto json_bytes = static_cast<uint32_t>(glb.find("BIN") - 4 - 20);
  const size_t binary_length = 20 + json_bytes;
  ASSERT_EQ(with_word(kJsonLength, json_bytes), glb);
  EXPECT_EQ(ErrorOf(with_word(kJsonLength, UINT32_MAX)),
            "chunk 0 says 4294967295 bytes, and " + std::to_string(glb.size() - 20) + " are left");
  EXPECT_EQ(ErrorOf(with_word(binary_length, 844)), "chunk 1 says 844 bytes, and 840 are left");
  EXPECT_THAT(ErrorOf(with_word(kJsonLength, static_cast<uint32_t>(glb.size() - 24))),
              MatchesRegex("chunk 1 at [0-9]+ is truncated"));
  EXPECT_THAT(ErrorOf(with_word(8, UINT32_MAX)),
              HasSubstr("the header says 4294967295 bytes and the file has"));
  EXPECT_THAT(ErrorOf(with_word(8, 11)), HasSubstr("the header says 11 bytes"));
  EXPECT_THAT(ErrorOf(with_word(8, 12)), HasSubstr("a GLB without chunks"));
  EXPECT_EQ(ErrorOf(with_word(16, 0x004E4942)), "the first chunk, and no other, must be JSON");
}

TEST_F(BadGltfTest, JsonIsReadStrictlyInEitherContainer) {
  const std::string good = R"({"asset": {"version": "2.0"}})";
  const auto expect = [&](const std::string& text, const std::string& said) {
    EXPECT_EQ(ErrorOf(text), said);
    EXPECT_EQ(ErrorOf(GlbOf(text, "")), said);
  };
  expect(good, "OK");
  expect(R"({"asset": {"version": "2.0"}, "asset": {"version": "2.0"}})",
         "line 1, column 37: the object has the key \"asset\" twice");
  expect("\xEF\xBB\xBF" + good,
         "line 1, column 1: the file begins with a byte order mark (EF BB BF); save it as UTF-8 "
         "without one");
  const std::string before = R"({"asset": {"version": "2.0"}, "extras": )";
  for (const char* unit : {"[", "{\"a\":"}) {
    std::string deep = before;
    for (int i = 0; i < 100'000; ++i) deep += unit;
    EXPECT_THAT(ErrorOf(deep), HasSubstr("arrays and objects nest deeper than 512"));
    EXPECT_THAT(ErrorOf(GlbOf(deep, "")), HasSubstr("arrays and objects nest deeper than 512"));
  }
  expect(before + std::string(511, '[') + std::string(511, ']') + "}", "OK");
  expect(before + "1e999}", "line 1, column 46: the number 1e999 is too large");
}

}  // namespace
}  // namespace galley::worker::mesh
