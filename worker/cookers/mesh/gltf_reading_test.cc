// The parts of glTF that are read, and the warnings and errors about other parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <meshoptimizer.h>

#include "worker/cookers/mesh/testing/mesh_cooking.h"
#include "worker/cookers/source_looker.h"

namespace galley::worker::mesh {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr Tolerance kQuantised = {.position = 3.1e-5, .attribute = 0.011};

class GltfReadingTest : public MeshCooking {
 protected:
  // Expects that both files draw the same.
  void ExpectEqualDrawing(const GltfBuilder& expected, const std::string& source) {
    EXPECT_EQ(Compare(ReadTriangles(ReadGlbFile(expected.Glb())), ReadTriangles(Cook(source)),
                      kQuantised),
              "");
  }
};

TEST_F(GltfReadingTest, StripsAndFansBecomeLists) {
  // Quad 0 1 2 3 as a strip (0 1 3 2) and as a fan (0 1 2 3).
  const std::vector<float> positions = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
  const auto scene = [&](int mode, const std::vector<uint32_t>& indices) {
    GltfBuilder builder;
    json primitive = {{"mode", mode}};
    primitive["attributes"]["POSITION"] = builder.AddFloats("VEC3", positions, true);
    primitive["indices"] = builder.AddIntegers("SCALAR", 5121, indices);
    builder.AddMesh(primitive);
    return builder;
  };
  ExpectEqualDrawing(scene(4, {0, 1, 3, 1, 2, 3}), scene(5, {0, 1, 3, 2}).Glb());
  ExpectEqualDrawing(scene(4, {0, 1, 2, 0, 2, 3}), scene(6, {0, 1, 2, 3}).Glb());
  // A strip's degenerate joints draw nothing.
  ExpectEqualDrawing(scene(4, {0, 1, 3}), scene(5, {0, 1, 3, 3, 3}).Glb());
}

TEST_F(GltfReadingTest, PointsAndLinesPassThrough) {
  for (const int mode : {0, 1, 2, 3}) {
    GltfBuilder builder;
    json primitive = {{"mode", mode}};
    primitive["attributes"]["POSITION"] =
        builder.AddFloats("VEC3", {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, true);
    if (mode == 1) primitive["indices"] = builder.AddIntegers("SCALAR", 5121, {0, 1, 0, 3});
    builder.AddMesh(primitive);
    const GlbFile file = Cook(builder.Glb(), {{"quantize", false}, {"lods", {0.5}}});
    const json& cooked = file.json["meshes"][0]["primitives"][0];
    EXPECT_EQ(cooked["mode"], mode);
    EXPECT_EQ(cooked.contains("indices"), mode == 1);
    if (mode == 1) {
      EXPECT_THAT(ReadValues(file, cooked["indices"].get<size_t>()), ElementsAre(0, 1, 0, 2));
    } else {
      EXPECT_THAT(ReadValues(file, cooked["attributes"]["POSITION"].get<size_t>()),
                  ElementsAre(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0));
    }
  }
}

TEST_F(GltfReadingTest, VerticesWithoutIndicesAreWelded) {
  GltfBuilder expected = CubeScene();
  const Surface cube = Cube();
  Surface loose;
  for (const uint32_t index : cube.indices) {
    for (size_t c = 0; c < 3; ++c) {
      loose.positions.push_back(cube.positions[index * 3 + c]);
      loose.normals.push_back(cube.normals[index * 3 + c]);
    }
    for (size_t c = 0; c < 2; ++c) loose.texcoords.push_back(cube.texcoords[index * 2 + c]);
  }
  GltfBuilder builder;
  json primitive = AddSurface(builder, loose);
  primitive.erase("indices");
  builder.AddMesh(primitive);
  ExpectEqualDrawing(expected, builder.Glb());
  EXPECT_EQ(CookBytes(builder.Glb()), CookBytes(expected.Glb()));
}

TEST_F(GltfReadingTest, InterleavedViewsAreReadByTheirStride) {
  const Surface cube = Cube();
  std::string bytes;
  for (size_t i = 0; i < 24; ++i) {
    const auto put = [&](const float* values, size_t count) {
      bytes.append(reinterpret_cast<const char*>(values), count * sizeof(float));
    };
    put(&cube.normals[i * 3], 3);
    put(&cube.positions[i * 3], 3);
    put(&cube.texcoords[i * 2], 2);
  }
  GltfBuilder builder;
  const size_t view = builder.AddView(bytes, 32);
  const auto accessor = [&](const char* type, size_t offset) {
    builder.json["accessors"].push_back({{"bufferView", view},
                                         {"byteOffset", offset},
                                         {"componentType", 5126},
                                         {"count", 24},
                                         {"type", type}});
    return builder.json["accessors"].size() - 1;
  };
  json primitive;
  primitive["attributes"]["NORMAL"] = accessor("VEC3", 0);
  primitive["attributes"]["POSITION"] = accessor("VEC3", 12);
  primitive["attributes"]["TEXCOORD_0"] = accessor("VEC2", 24);
  primitive["indices"] = builder.AddIntegers("SCALAR", 5125, cube.indices);
  builder.AddMesh(primitive);
  EXPECT_EQ(CookBytes(builder.Glb()), CookBytes(CubeScene().Glb()));
}

TEST_F(GltfReadingTest, SparseValuesAreputIn) {
  GltfBuilder builder = CubeScene();
  const std::vector<float> moved = {12, 3, 4, 13, 5, 6};
  const size_t values =
      builder.AddView({reinterpret_cast<const char*>(moved.data()), moved.size() * 4});
  const size_t indices = builder.AddView(std::string("\x02\x00\x15\x00", 4));
  builder.json["accessors"][0]["sparse"] = {
      {"count", 2},
      {"indices", {{"bufferView", indices}, {"componentType", 5123}}},
      {"values", {{"bufferView", values}}}};
  ExpectSame(builder, {.position = 1e-4, .attribute = 0.011});
  // Without a buffer view all other elements are zero.
  builder.json["accessors"][0].erase("bufferView");
  const GlbFile file = Cook(builder.Glb(), {{"quantize", false}});
  const std::vector<double> positions = ReadValues(
      file, file.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].get<size_t>());
  EXPECT_THAT(positions, Contains(13.0));
  EXPECT_THAT(positions, Contains(0.0));
}

TEST_F(GltfReadingTest, NormalisedIntegersKeepTheirMeaning) {
  GltfBuilder builder;
  json primitive = AddSurface(builder, Cube());
  std::vector<uint32_t> colors;
  for (uint32_t i = 0; i < 24 * 4; ++i) colors.push_back(i * 650);
  primitive["attributes"]["COLOR_0"] = builder.AddIntegers("VEC4", 5123, colors, true);
  builder.AddMesh(primitive);
  ExpectSame(builder, kQuantised);
}

TEST_F(GltfReadingTest, PrimitivesThatShareVerticesGetWhatTheyUse) {
  GltfBuilder builder;
  json first = AddSurface(builder, Cube());
  json second = first;
  first["indices"] = builder.AddIntegers("SCALAR", 5123, {0, 1, 2});
  second["indices"] = builder.AddIntegers("SCALAR", 5123, {8, 9, 10, 8, 10, 11});
  builder.AddMesh(first);
  builder.json["meshes"][0]["primitives"].push_back(second);
  ExpectSame(builder, kQuantised);
  EXPECT_THAT(Run(builder.Glb())->tags(),
              Contains(testing::Pair("vertices", testing::VariantWith<double>(7))));
}

TEST_F(GltfReadingTest, MeshoptCompressionIsDecoded) {
  GltfBuilder builder = CubeScene();
  const Surface cube = Cube();
  std::string packed(meshopt_encodeVertexBufferBound(24, 12), '\0');
  packed.resize(meshopt_encodeVertexBuffer(reinterpret_cast<unsigned char*>(packed.data()),
                                           packed.size(), cube.positions.data(), 24, 12));
  const size_t view = builder.AddView(packed);
  const json place = builder.json["bufferViews"][view];
  builder.json["bufferViews"].erase(view);
  builder.json["bufferViews"][0]["extensions"]["EXT_meshopt_compression"] = {
      {"buffer", 0},
      {"byteOffset", place["byteOffset"]},
      {"byteLength", packed.size()},
      {"byteStride", 12},
      {"count", 24},
      {"mode", "ATTRIBUTES"}};
  builder.json["extensionsUsed"] = {"EXT_meshopt_compression"};
  builder.json["extensionsRequired"] = {"EXT_meshopt_compression"};
  EXPECT_EQ(CookBytes(builder.Glb()), CookBytes(CubeScene().Glb()));
  builder.buffer[place["byteOffset"].get<size_t>()] = 'x';
  EXPECT_EQ(
      ErrorOf(builder.Glb()),
      "/bufferViews/0/extensions/EXT_meshopt_compression: the compressed bytes do not decode");
  builder.buffer[place["byteOffset"].get<size_t>()] = '\xA1';
  EXPECT_THAT(ErrorOf(builder.Glb()), HasSubstr("are of version 1 of the codec"));
}

TEST_F(GltfReadingTest, XmpIsTheAuthorsOwn) {
  const json packet =
      json::parse(R"({"extensions": {"VENDOR_x": 1, "KHR_lights_punctual": {}}, "dc:title": "x"})");
  const std::string source = Changed([&](json& gltf) {
    gltf["extensions"]["KHR_xmp_json_ld"]["packets"] = json::array({packet});
    gltf["extensionsUsed"] = {"KHR_xmp_json_ld"};
  });
  const GlbFile file = Cook(source, {{"quantize", false}});
  EXPECT_EQ(file.json["extensions"]["KHR_xmp_json_ld"]["packets"][0], packet);
  EXPECT_EQ(file.json["extensionsUsed"], json::array({"KHR_xmp_json_ld"}));
}

TEST_F(GltfReadingTest, MoreThan256AttributesBesideNormalAndTangentAreRefused) {
  const auto error = [&](int count) {
    return ErrorOf(Changed([&](json& gltf) {
      json& attributes = gltf["meshes"][0]["primitives"][0]["attributes"];
      for (int i = 3; i < count; ++i) attributes["_A" + std::to_string(i)] = 0;
    }));
  };
  EXPECT_EQ(error(257), "OK");
  EXPECT_EQ(
      error(258),
      "/meshes/0/primitives/0/attributes: more than 256 attributes beside NORMAL and TANGENT");
}

TEST_F(GltfReadingTest, ExtensionsAreKeptDroppedOrRefusedByName) {
  const std::string source = Changed([](json& gltf) {
    gltf["nodes"][0]["extensions"] = {{"VENDOR_x", {{"accessor", 1}}},
                                      {"KHR_lights_punctual", {{"light", 0}}}};
    gltf["extensions"] = {{"KHR_lights_punctual", {{"lights", {{{"type", "point"}}}}}}};
    gltf["nodes"][0]["extras"] = {{"extensions", {{"mine", 1}}}};
    gltf["extensionsUsed"] = {"VENDOR_x", "KHR_lights_punctual"};
  });
  const auto context = Run(source);
  ASSERT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(context->warnings(),
              ElementsAre("extension \"VENDOR_x\" is not known here and left out"));
  const json gltf = ReadGlbFile(context->output(".glb")).json;
  EXPECT_EQ(gltf["extensionsUsed"], json({"KHR_lights_punctual", "KHR_mesh_quantization"}));
  EXPECT_EQ(gltf["nodes"][0]["extensions"], json({{"KHR_lights_punctual", {{"light", 0}}}}));
  EXPECT_EQ(gltf["nodes"][0]["extras"]["extensions"]["mine"], 1);
  const auto required = [](const char* name) {
    return [name](json& changed) { changed["extensionsRequired"] = {name}; };
  };
  EXPECT_THAT(ErrorOf(Changed(required("VENDOR_x"))), HasSubstr("\"VENDOR_x\" is required"));
  EXPECT_THAT(ErrorOf(Changed(required("KHR_draco_mesh_compression"))),
              HasSubstr("export the mesh uncompressed"));
}

TEST_F(GltfReadingTest, FlawsAreNamedByTheirPlace) {
  const auto error = [&](const auto& change) { return ErrorOf(Changed(change)); };
  EXPECT_EQ(error([](json& g) { g["accessors"][0]["count"] = 25; }),
            "/meshes/0/primitives/0/attributes/POSITION: 25 elements, and 24 in the attributes "
            "before it");
  EXPECT_EQ(error([](json& g) { g["accessors"][3]["count"] = 3000; }),
            "/meshes/0/primitives/0/indices: /accessors/3: its 3000 elements end at byte 6000 of a "
            "buffer view that has 72");
  EXPECT_EQ(error([](json& g) { g["bufferViews"][1]["byteLength"] = 99999; }),
            "/bufferViews/1: bytes 288 to 100287 of a buffer that has 840");
  EXPECT_EQ(error([](json& g) { g["accessors"][0]["bufferView"] = 4; }),
            "/accessors/0/bufferView: 4 is out of range: /bufferViews has 4");
  EXPECT_EQ(error([](json& g) { g["nodes"][0]["mesh"] = -1; }),
            "/nodes/0/mesh: expected an integer from 0 to 4294967295, not -1");
  EXPECT_EQ(error([](json& g) { g["nodes"][0]["children"] = {0}; }),
            "/nodes/0: the node is its own ancestor");
  EXPECT_EQ(error([](json& g) { g["meshes"][0]["primitives"][0]["mode"] = 7; }),
            "/meshes/0/primitives/0/mode: expected an integer from 0 to 6, not 7");
  EXPECT_EQ(error([](json& g) { g["accessors"][0]["type"] = "VEC5"; }),
            "/meshes/0/primitives/0/attributes/POSITION: /accessors/0/type: expected SCALAR, VEC2 "
            "... MAT4, not VEC5");
  EXPECT_EQ(error([](json& g) { g["accessors"][0]["type"] = "VEC2"; }),
            "/meshes/0/primitives/0/attributes/POSITION: VEC2 of component type 5126 is no format "
            "for it");
  EXPECT_EQ(error([](json& g) { g["asset"]["version"] = "1.0"; }),
            "/asset/version: expected 2.0, not 1.0");
  EXPECT_EQ(error([](json& g) { g["meshes"] = 5; }), "/meshes: expected an array, not 5");
  EXPECT_EQ(error([](json& g) {
              g["materials"] = {{{"normalTexture", {{"index", 0}}}}};
            }),
            "/materials/0/normalTexture/index: 0 is out of range: /textures has 0");
  EXPECT_EQ(error([](json& g) {
              g["materials"] = {{{"normalTexture", {{"scale", 1}}}}};
            }),
            "/materials/0/normalTexture: expected an object with the index of a texture");
}

TEST_F(GltfReadingTest, ScenesNameNodes) {
  const auto error = [&](const json& roots) {
    return ErrorOf(Changed([&](json& g) {
      g["nodes"].push_back(json::object());
      g["nodes"][0]["children"] = {1};
      g["scenes"][0]["nodes"] = roots;
    }));
  };
  EXPECT_EQ(error({0}), "OK");
  EXPECT_EQ(error({0, 2}), "/scenes/0/nodes/1: 2 is out of range: /nodes has 2");
}

TEST_F(GltfReadingTest, IndicesOfExtensionsAreChecked) {
  EXPECT_EQ(ErrorOf(Changed([](json& g) {
              g["nodes"][0]["extensions"]["KHR_lights_punctual"]["light"] = 1;
              g["extensions"]["KHR_lights_punctual"]["lights"] = json::parse(R"([{}])");
            })),
            "/nodes/0/extensions/KHR_lights_punctual/light: 1 is out of range: "
            "/extensions/KHR_lights_punctual/lights has 1");
  EXPECT_EQ(ErrorOf(Changed([](json& g) {
              g["materials"] = json::parse("[{}]");
              g["meshes"][0]["primitives"][0]["extensions"]["KHR_materials_variants"]["mappings"] =
                  json::parse(R"([{"material": 0, "variants": [0]}])");
            })),
            "/meshes/0/primitives/0/extensions/KHR_materials_variants/mappings/0/variants/0: 0 is "
            "out of range: /extensions/KHR_materials_variants/variants has 0");
  EXPECT_EQ(ErrorOf(Changed([](json& g) { g["nodes"][0]["extensions"]["MSFT_lod"]["ids"] = {7}; })),
            "/nodes/0/extensions/MSFT_lod/ids/0: 7 is out of range: /nodes has 1");
}

TEST_F(GltfReadingTest, AttributesHaveTheFormatsOfTheSpecification) {
  const auto error = [&](const char* semantic, int component, bool is_normalized) {
    GltfBuilder builder = SkinnedScene();
    json& attributes = builder.json["meshes"][0]["primitives"][0]["attributes"];
    attributes[semantic] =
        builder.AddIntegers("VEC4", component, std::vector<uint32_t>(147 * 4, 0), is_normalized);
    return ErrorOf(builder.Glb());
  };
  const std::string place = "/meshes/0/primitives/0/attributes/";
  EXPECT_EQ(error("JOINTS_0", 5121, false), "OK");
  EXPECT_EQ(error("JOINTS_0", 5120, false),
            place + "JOINTS_0: VEC4 of component type 5120 is no format for it");
  EXPECT_EQ(error("JOINTS_0", 5121, true),
            place + "JOINTS_0: normalized VEC4 of component type 5121 is no format for it");
  EXPECT_EQ(error("WEIGHTS_0", 5123, true), "OK");
  EXPECT_THAT(error("WEIGHTS_0", 5123, false), HasSubstr("is no format for it"));
  EXPECT_THAT(error("WEIGHTS_0", 5122, true), HasSubstr("is no format for it"));
  EXPECT_EQ(error("COLOR_0", 5121, true), "OK");
  EXPECT_THAT(error("COLOR_0", 5121, false), HasSubstr("is no format for it"));
  EXPECT_THAT(error("TANGENT", 5121, true), HasSubstr("is no format for it"));
}

TEST_F(GltfReadingTest, JointsLieWithinTheSkin) {
  GltfBuilder builder = SkinnedScene();
  json& attributes = builder.json["meshes"][0]["primitives"][0]["attributes"];
  attributes["JOINTS_0"] = builder.AddIntegers("VEC4", 5121, std::vector<uint32_t>(147 * 4, 2));
  EXPECT_EQ(
      ErrorOf(builder.Glb()),
      "/meshes/0/primitives/0/attributes/JOINTS_0: joint 2, and /skins/0, with which /nodes/0 "
      "shows it, has 2");
  builder.json["nodes"][0].erase("skin");
  EXPECT_EQ(ErrorOf(builder.Glb()), "OK");
}

TEST_F(GltfReadingTest, AnimationsHaveTheTypesOfTheirPaths) {
  const auto error = [&](const std::vector<float>& keys, const char* type, size_t count,
                         const char* path) {
    GltfBuilder builder = MorphScene();
    json& animation = builder.json["animations"][0];
    const size_t width =
        std::string_view(type) == "SCALAR" ? 1 : static_cast<size_t>(type[3] - '0');
    animation["samplers"][0] = {
        {"input", builder.AddFloats("SCALAR", keys, true)},
        {"output", builder.AddFloats(type, std::vector<float>(count * width, 0))}};
    animation["channels"][0]["target"]["path"] = path;
    return ErrorOf(builder.Glb());
  };
  EXPECT_EQ(error({0, 1}, "SCALAR", 4, "weights"), "OK");
  EXPECT_EQ(error({0, 1}, "SCALAR", 2, "weights"),
            "/animations/0/channels/0: 2 values of weights, expected 4");
  EXPECT_EQ(error({0, 1}, "VEC3", 2, "translation"), "OK");
  EXPECT_EQ(error({0, 1}, "VEC4", 2, "rotation"), "OK");
  EXPECT_EQ(error({0, 1}, "VEC3", 2, "rotation"),
            "/animations/0/channels/0: VEC3 of component type 5126 is no format for rotation");
  EXPECT_EQ(error({0, 1}, "VEC4", 2, "scale"),
            "/animations/0/channels/0: VEC4 of component type 5126 is no format for scale");
  EXPECT_EQ(error({1, 1}, "VEC3", 2, "scale"),
            "/animations/0/samplers/0/input: key 1 is 1, and the one before it 1; expected rising "
            "ones");
  EXPECT_EQ(error({-1, 1}, "VEC3", 2, "scale"),
            "/animations/0/samplers/0/input: key 0 is negative: -1");
}

TEST_F(GltfReadingTest, IndicesBeyondTheVerticesAreFlaws) {
  GltfBuilder builder;
  json primitive = AddSurface(builder, Cube());
  primitive["indices"] = builder.AddIntegers("SCALAR", 5123, {0, 1, 24});
  builder.AddMesh(primitive);
  EXPECT_EQ(ErrorOf(builder.Glb()),
            "/meshes/0/primitives/0/indices: index 2 is 24, and there are 24 vertices");
}

TEST_F(GltfReadingTest, DamagedContainersAreVerdicts) {
  const std::string glb = CubeScene().Glb();
  EXPECT_THAT(ErrorOf(glb.substr(0, glb.size() - 8)), HasSubstr("truncated?"));
  EXPECT_THAT(ErrorOf("glTF"), HasSubstr("a header of 12"));
  EXPECT_THAT(ErrorOf(std::string("glTF\x01\0\0\0\x0c\0\0\0", 12)), HasSubstr("GLB version 1"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("the file is empty"));
  EXPECT_THAT(ErrorOf("{]"), HasSubstr("line 1, column 2"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("expected a JSON object"));
}

TEST_F(GltfReadingTest, UrisAreRelativePathsOrData) {
  const auto error = [&](const char* uri) { return ErrorOf(CubeScene().Gltf(uri)); };
  EXPECT_THAT(error("a%2.bin"), HasSubstr("not followed by two hexadecimal digits"));
  EXPECT_THAT(error("data:;base64,AAA*"), HasSubstr("bad character at 3"));
  EXPECT_THAT(error("data:nothing"), HasSubstr("without a comma"));
  EXPECT_THAT(error("data:,%00%01"), HasSubstr("byteLength is 840, and there are 2 bytes"));
}

TEST_F(GltfReadingTest, ImagesThatNoCookerReadsAreRefused) {
  const auto error = [&](const json& image) {
    return ErrorOf(Changed([&](json& gltf) {
      gltf["images"] = json::array({image});
      gltf["textures"] = json::parse(R"([{"source": 0}])");
      gltf["materials"] = json::parse(R"([{"emissiveTexture": {"index": 0}}])");
    }));
  };
  EXPECT_THAT(error({{"uri", "data:image/webp;base64," + Base64("RIFF....WEBP")}}),
              HasSubstr("the embedded image is WebP"));
  EXPECT_THAT(error({{"uri", "./_gen/a.png"}}), HasSubstr("/images/0/uri: a folder _gen"));
  EXPECT_THAT(error({{"uri", "_Gen/a.png"}}), HasSubstr("/images/0/uri: a folder _gen"));
  EXPECT_THAT(error({{"uri", "http://example.org/a.png"}}), HasSubstr("not a relative path"));
  EXPECT_THAT(error(json::object()), HasSubstr("expected a uri or a bufferView"));
}

TEST_F(GltfReadingTest, AnOutlineReadsNoOtherFile) {
  FileLook look;
  const auto outline = [&](const std::string& source) {
    FakeCookContext context(cooker_->description(), "/Game/m/a.gltf", source);
    look = {};
    const absl::Status status =
        dynamic_cast<SourceLooker&>(*cooker_).Look(context, LookDepth::kOutline, look);
    EXPECT_THAT(context.looks(), IsEmpty());
    return status.ok() ? look.kind : std::string(status.message());
  };
  // The outline names the base colour, the normal map and the quantities, but not an image in a
  // buffer that nobody reads. An extension has a webp beside the first image, and no material uses
  // the last.
  EXPECT_EQ(outline(R"({"asset": {"version": "2.0"},
      "buffers": [{"uri": "m%201.bin", "byteLength": 99}, {"uri": "m.bin", "byteLength": 9}],
      "bufferViews": [{"buffer": 0, "byteOffset": 8, "byteLength": 90}],
      "images": [{"uri": "c.png"}, {"uri": "bumps.png"}, {"uri": "r%20m.png"}, {"uri": "x.png"},
                 {"bufferView": 0, "mimeType": "image/png"}, {"uri": "w.webp"}],
      "textures": [{"source": 0}, {"source": 1}, {"source": 2}, {"source": 4},
                   {"extensions": {"EXT_texture_webp": {"source": 5}}}],
      "materials": [{"normalTexture": {"index": 1}, "emissiveTexture": {"index": 3},
        "occlusionTexture": {"index": 4}, "pbrMetallicRoughness": {
        "baseColorTexture": {"index": 0}, "metallicRoughnessTexture": {"index": 2}}}]})"),
            "glTF 2.0");
  EXPECT_THAT(look.buffers, ElementsAre("m 1.bin", "m.bin"));
  EXPECT_THAT(look.images, ElementsAre(Pair("bumps.png", "normal"), Pair("c.png", "color"),
                                       Pair("r m.png", "data"), Pair("w.webp", "data")));
  EXPECT_EQ(outline(CubeScene().Glb()), "glTF 2.0");
  EXPECT_THAT(outline(R"({"asset": {"version": "1.0"}})"), HasSubstr("expected 2.0, not 1.0"));
  EXPECT_THAT(outline(R"({"asset": {"version": "2.0"},
                          "extensionsRequired": ["KHR_draco_mesh_compression"]})"),
              HasSubstr("KHR_draco_mesh_compression"));
  EXPECT_THAT(outline("model"), HasSubstr("begins with `model`"));
}

}  // namespace
}  // namespace galley::worker::mesh
