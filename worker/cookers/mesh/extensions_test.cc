// The fate of each extension that docs/cookers/mesh.md names.
#include "worker/cookers/mesh/extensions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "worker/cookers/mesh/testing/mesh_cooking.h"

namespace galley::worker::mesh {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// An extension that stays unchanged in its place.
struct Kept {
  const char* name;
  const char* place;  // the place of the object that has the extension; "" is the file
  const char* value;
  // The extension in the file's own "extensions", to which `value` refers.
  const char* root = nullptr;
};

constexpr Kept kKept[] = {
    {"KHR_lights_punctual", "/nodes/0", R"({"light": 0})",
     R"({"lights": [{"type": "spot", "spot": {"outerConeAngle": 0.5}}]})"},
    {"KHR_materials_anisotropy", "/materials/0", R"({"anisotropyStrength": 0.5})"},
    {"KHR_materials_clearcoat", "/materials/0", R"({"clearcoatFactor": 1})"},
    {"KHR_materials_diffuse_transmission", "/materials/0",
     R"({"diffuseTransmissionFactor": 0.25})"},
    {"KHR_materials_dispersion", "/materials/0", R"({"dispersion": 0.1})"},
    {"KHR_materials_emissive_strength", "/materials/0", R"({"emissiveStrength": 5})"},
    {"KHR_materials_ior", "/materials/0", R"({"ior": 1.4})"},
    {"KHR_materials_iridescence", "/materials/0", R"({"iridescenceFactor": 1})"},
    {"KHR_materials_pbrSpecularGlossiness", "/materials/0", R"({"glossinessFactor": 0.5})"},
    {"KHR_materials_sheen", "/materials/0", R"({"sheenColorFactor": [1, 0.5, 0]})"},
    {"KHR_materials_specular", "/materials/0", R"({"specularFactor": 0.5})"},
    {"KHR_materials_transmission", "/materials/0", R"({"transmissionFactor": 1})"},
    {"KHR_materials_unlit", "/materials/0", "{}"},
    {"KHR_materials_variants", "/meshes/0/primitives/0",
     R"({"mappings": [{"material": 1, "variants": [0, 1]}]})",
     R"({"variants": [{"name": "red"}, {"name": "blue"}]})"},
    {"KHR_materials_volume", "/materials/0", R"({"thicknessFactor": 1})"},
    {"KHR_node_visibility", "/nodes/0", R"({"visible": false})"},
    {"KHR_xmp_json_ld", "/materials/0", R"({"packet": 0})",
     R"({"packets": [{"dc:title": "x", "extensions": {"VENDOR_x": {}}}]})"},
    {"MSFT_lod", "/nodes/0", R"({"ids": [1]})"},
    {"MSFT_lod", "/materials/0", R"({"ids": [1]})"}};

// Extensions that are read and not written, or written otherwise; a test below or in another file
// covers each.
constexpr const char* kTakenUp[] = {
    "EXT_mesh_gpu_instancing",  // mesh_cooker_test.cc: its accessors are renumbered
    "EXT_meshopt_compression",  // gltf_reading_test.cc
    "EXT_texture_avif",        "EXT_texture_webp",      "KHR_mesh_quantization",
    "KHR_texture_basisu",      "KHR_texture_transform", "MSFT_texture_dds"};

class ExtensionsTest : public MeshCooking {
 protected:
  // The cube with two materials and a node beside its own.
  static GltfBuilder Scene() {
    GltfBuilder builder = CubeScene();
    builder.json["materials"] = json::parse(R"([{"name": "a"}, {"name": "b"}])");
    builder.json["meshes"][0]["primitives"][0]["material"] = 0;
    builder.json["nodes"].push_back({{"name", "beside"}});
    return builder;
  }
  static void Use(GltfBuilder& builder, const std::string& name, bool is_required) {
    builder.json["extensionsUsed"].push_back(name);
    if (is_required) builder.json["extensionsRequired"].push_back(name);
  }
  // The first material, with one texture.
  static GltfBuilder Textured(const json& material, const json& images, const json& texture) {
    GltfBuilder builder = Scene();
    builder.json["images"] = images;
    builder.json["textures"] = json::array({texture});
    builder.json["materials"][0] = material;
    return builder;
  }
};

TEST_F(ExtensionsTest, EachThatIsKnownIsTested) {
  std::vector<std::string> tested(std::begin(kTakenUp), std::end(kTakenUp));
  for (const Kept& kept : kKept) tested.emplace_back(kept.name);
  std::sort(tested.begin(), tested.end());
  tested.erase(std::unique(tested.begin(), tested.end()), tested.end());
  const std::span<const std::string_view> known = KnownExtensions();
  EXPECT_EQ(tested, (std::vector<std::string>{known.begin(), known.end()}));
}

TEST_F(ExtensionsTest, ThoseThatAreKeptStayAsTheyAreAndAreDeclared) {
  for (const Kept& kept : kKept) {
    for (const bool is_required : {false, true}) {
      GltfBuilder builder = Scene();
      const json::json_pointer place(std::string(kept.place) + "/extensions/" + kept.name);
      builder.json[place] = json::parse(kept.value);
      if (kept.root != nullptr) builder.json["extensions"][kept.name] = json::parse(kept.root);
      Use(builder, kept.name, is_required);
      const auto context = Run(builder.Glb(), {{"quantize", false}});
      ASSERT_TRUE(status_.ok()) << kept.name << ": " << status_;
      if (std::string_view(kept.name) == "KHR_materials_anisotropy") {  // the scene has no tangents
        EXPECT_THAT(context->warnings(), ElementsAre(HasSubstr("NO_TANGENT_SPACE")));
      } else {
        EXPECT_THAT(context->warnings(), IsEmpty()) << kept.name;
      }
      json found = ReadGlbFile(context->output(".glb")).json;
      ASSERT_TRUE(found.contains(place)) << kept.name;
      EXPECT_EQ(found[place], builder.json[place]) << kept.name;
      if (kept.root != nullptr) {
        EXPECT_EQ(found["extensions"][kept.name], builder.json["extensions"][kept.name]);
      }
      EXPECT_EQ(found["extensionsUsed"], json::array({kept.name}));
      EXPECT_EQ(found.value("extensionsRequired", json::array()),
                is_required ? json::array({kept.name}) : json::array());
    }
  }
}

TEST_F(ExtensionsTest, OneThatIsDeclaredAndNotUsedIsDeclaredNoMore) {
  GltfBuilder builder = Scene();
  Use(builder, "KHR_materials_ior", true);
  json found = Cook(builder.Glb(), {{"quantize", false}}).json;
  EXPECT_FALSE(found.contains("extensionsUsed"));
  EXPECT_FALSE(found.contains("extensionsRequired"));
}

TEST_F(ExtensionsTest, TexturesOfMaterialExtensionsAreTakenOutByWhatTheyHold) {
  const std::string color = R"({"color_space":"srgb","usage":"color"})";
  const std::string data = R"({"color_space":"linear","usage":"color"})";
  const std::string normal = R"({"usage":"normal"})";
  struct Slot {
    const char* extension;
    const char* slot;
    const std::string& settings;
  };
  const Slot slots[] = {{"KHR_materials_anisotropy", "anisotropy", data},
                        {"KHR_materials_clearcoat", "clearcoat", data},
                        {"KHR_materials_clearcoat", "clearcoatRoughness", data},
                        {"KHR_materials_clearcoat", "clearcoatNormal", normal},
                        {"KHR_materials_diffuse_transmission", "diffuseTransmission", data},
                        {"KHR_materials_diffuse_transmission", "diffuseTransmissionColor", color},
                        {"KHR_materials_iridescence", "iridescence", data},
                        {"KHR_materials_iridescence", "iridescenceThickness", data},
                        {"KHR_materials_pbrSpecularGlossiness", "diffuse", color},
                        {"KHR_materials_pbrSpecularGlossiness", "specularGlossiness", color},
                        {"KHR_materials_sheen", "sheenColor", color},
                        {"KHR_materials_sheen", "sheenRoughness", data},
                        {"KHR_materials_specular", "specular", data},
                        {"KHR_materials_specular", "specularColor", color},
                        {"KHR_materials_transmission", "transmission", data},
                        {"KHR_materials_volume", "thickness", data}};
  const std::string uri = "data:image/png;base64," + Base64(TinyPng());
  for (const Slot& slot : slots) {
    json material;
    material["extensions"][slot.extension] = {
        {std::string(slot.slot) + "Texture", {{"index", 0}, {"texCoord", 0}}}, {"factor", 0.5}};
    GltfBuilder builder = Textured(material, {{{"uri", uri}}}, {{"source", 0}});
    Use(builder, slot.extension, true);
    const auto context = Run(builder.Glb());
    ASSERT_TRUE(status_.ok()) << slot.slot << ": " << status_;
    json found = ReadGlbFile(context->output(".glb")).json["materials"][0];
    EXPECT_EQ(found["extensions"][slot.extension], json({{"factor", 0.5}})) << slot.slot;
    EXPECT_EQ(found["extras"]["galley"],
              json({{slot.slot, {{"texture", "_gen/image_0.png"}, {"texcoord", 0}}}}));
    EXPECT_EQ(context->generated().at("_gen/image_0.png").settings_json, slot.settings)
        << slot.slot;
  }
}

TEST_F(ExtensionsTest, OtherImagesOfATextureAreTakenWhereItHasNoneOfItsOwn) {
  const json images = json::parse(R"([{"uri": "own.png"}, {"uri": "other.xyz"}])");
  const json material = json::parse(R"({"emissiveTexture": {"index": 0}})");
  for (const char* name :
       {"EXT_texture_avif", "EXT_texture_webp", "KHR_texture_basisu", "MSFT_texture_dds"}) {
    for (const bool has_own : {true, false}) {
      json texture;
      texture["extensions"][name]["source"] = 1;
      if (has_own) texture["source"] = 0;
      GltfBuilder builder = Textured(material, images, texture);
      Use(builder, name, !has_own);
      const auto context = Run(builder.Glb(), {{"quantize", false}});
      ASSERT_TRUE(status_.ok()) << name << ": " << status_;
      const char* const expected = has_own ? "own.png" : "other.xyz";
      EXPECT_THAT(context->references(),
                  ElementsAre(record::Reference{expected, record::ReferenceKind::kHard}));
      json found = ReadGlbFile(context->output(".glb")).json;
      EXPECT_EQ(found["materials"][0]["extras"]["galley"]["emissive"]["texture"], expected);
      EXPECT_FALSE(found.contains("extensionsUsed")) << name;
      EXPECT_FALSE(found.contains("extensionsRequired")) << name;
    }
    json beyond;
    beyond["extensions"][name]["source"] = 2;
    EXPECT_EQ(ErrorOf(Textured(material, images, beyond).Glb()),
              std::string("/textures/0/extensions/") + name + "/source: no such image");
  }
}

TEST_F(ExtensionsTest, EmbeddedImagesOfTheirKindsAreCopiedOrRefusedByName) {
  const json material = json::parse(R"({"emissiveTexture": {"index": 0}})");
  const auto scene = [&](const char* name, const std::string& bytes) {
    json texture;
    texture["extensions"][name]["source"] = 0;
    GltfBuilder builder = Textured(material, {{{"uri", "data:;base64," + Base64(bytes)}}}, texture);
    Use(builder, name, true);
    return builder.Glb();
  };
  const std::pair<const char*, std::pair<std::string, std::string>> copied[] = {
      {"KHR_texture_basisu", {"\xabKTX 20\xbb\r\n\x1a\n", "ktx2"}},
      {"MSFT_texture_dds", {"DDS |", "dds"}}};
  for (const auto& [name, image] : copied) {
    const auto context = Run(scene(name, image.first));
    ASSERT_TRUE(status_.ok()) << status_;
    const auto& generated = context->generated().at("_gen/image_0." + image.second);
    EXPECT_EQ(generated.cooker, "copy");
    EXPECT_EQ(generated.bytes, image.first);
    EXPECT_EQ(generated.settings_json, "{}");
  }
  EXPECT_EQ(ErrorOf(scene("EXT_texture_webp", "RIFF....WEBPVP8L")),
            "/images/0: the embedded image is WebP; expected PNG or JPEG (or KTX2, DDS)");
  EXPECT_EQ(ErrorOf(scene("EXT_texture_avif", std::string("\0\0\0\x20"
                                                          "ftypavif....",
                                                          16))),
            "/images/0: the embedded image is AVIF; expected PNG or JPEG (or KTX2, DDS)");
}

TEST_F(ExtensionsTest, ATexturesTransformGoesWithItsSlot) {
  json material;
  material["normalTexture"] = json::parse(
      R"({"index": 0, "extensions": {"KHR_texture_transform":
          {"offset": [0.5, 0], "rotation": 1.5, "scale": [2, 2], "texCoord": 0}}})");
  GltfBuilder builder = Textured(material, {{{"uri", "a.png"}}}, {{"source", 0}});
  Use(builder, "KHR_texture_transform", true);
  json found = Cook(builder.Glb(), {{"quantize", false}}).json;
  EXPECT_EQ(found["materials"][0]["extras"]["galley"]["normal"],
            json::parse(R"({"texture": "a.png", "texcoord": 0, "transform":
                            {"offset": [0.5, 0], "rotation": 1.5, "scale": [2, 2]}})"));
  EXPECT_FALSE(found.contains("extensionsUsed"));
}

TEST_F(ExtensionsTest, QuantisedPositionsAreReadAndStayDeclared) {
  GltfBuilder builder;
  json primitive = AddSurface(builder, Cube());
  std::vector<uint32_t> positions;
  for (const float position : Cube().positions)
    positions.push_back(static_cast<uint32_t>(position + 1));
  primitive["attributes"]["POSITION"] = builder.AddIntegers("VEC3", 5123, positions);
  builder.AddMesh(primitive);
  Use(builder, "KHR_mesh_quantization", true);
  for (const bool quantize : {false, true}) {
    const GlbFile file = Cook(builder.Glb(), {{"quantize", quantize}});
    EXPECT_EQ(file.json["extensionsRequired"], json::array({"KHR_mesh_quantization"}));
    EXPECT_EQ(Compare(ReadTriangles(ReadGlbFile(builder.Glb())), ReadTriangles(file),
                      {.position = 0, .attribute = 0.011}),
              "");
  }
}

TEST_F(ExtensionsTest, OfOptionalDracoTheUncompressedFallbackIsRead) {
  GltfBuilder builder = CubeScene();
  const size_t view = builder.AddView("DRACO...");
  json& primitive = builder.json["meshes"][0]["primitives"][0];
  primitive["extensions"]["KHR_draco_mesh_compression"] = {{"bufferView", view},
                                                           {"attributes", {{"POSITION", 0}}}};
  Use(builder, "KHR_draco_mesh_compression", false);
  const auto context = Run(builder.Glb());
  ASSERT_TRUE(status_.ok()) << status_;
  EXPECT_EQ(context->output(".glb"), CookBytes(CubeScene().Glb()));
  EXPECT_THAT(
      context->warnings(),
      ElementsAre("extension \"KHR_draco_mesh_compression\" is not known here and left out"));
  Use(builder, "KHR_draco_mesh_compression", true);
  EXPECT_THAT(ErrorOf(builder.Glb()),
              HasSubstr("KHR_draco_mesh_compression is not read; export the mesh uncompressed"));
}

TEST_F(ExtensionsTest, ChannelsOfAnimationPointersAreLeftOutWithAWarning) {
  GltfBuilder builder = SkinnedScene();
  json& animation = builder.json["animations"][0];
  json channel = animation["channels"][0];
  channel["target"] = json::parse(
      R"({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": "/nodes/0/scale"}}})");
  animation["channels"].push_back(channel);
  Use(builder, "KHR_animation_pointer", false);
  auto context = Run(builder.Glb());
  ASSERT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(context->warnings(),
              ElementsAre("extension \"KHR_animation_pointer\" is not known here and left out",
                          "/animations/0/channels/1: path \"pointer\" is not known here; the "
                          "channel is left out"));
  json found = ReadGlbFile(context->output(".glb")).json;
  EXPECT_EQ(found["animations"][0]["channels"].size(), 1u);
  EXPECT_THAT(found["extensionsUsed"], Not(Contains("KHR_animation_pointer")));
  animation["channels"] = json::array({channel});  // no channel is left
  EXPECT_FALSE(Cook(builder.Glb()).json.contains("animations"));
}

TEST_F(ExtensionsTest, OthersAreLeftOutWithAWarningOrRefusedByName) {
  for (const char* name : {"KHR_meshopt_compression", "KHR_audio_emitter", "VENDOR_x"}) {
    GltfBuilder builder = Scene();
    builder.json["nodes"][1]["extensions"][name] = {{"accessor", 3}};
    Use(builder, name, false);
    const auto context = Run(builder.Glb(), {{"quantize", false}});
    ASSERT_TRUE(status_.ok()) << status_;
    EXPECT_THAT(context->warnings(), ElementsAre(std::string("extension \"") + name +
                                                 "\" is not known here and left out"));
    json found = ReadGlbFile(context->output(".glb")).json;
    EXPECT_EQ(found["nodes"][1], json({{"name", "beside"}}));
    EXPECT_FALSE(found.contains("extensionsUsed"));
    Use(builder, name, true);
    EXPECT_EQ(ErrorOf(builder.Glb()), std::string("/extensionsRequired: \"") + name +
                                          "\" is required and not known here; export without it");
  }
}

}  // namespace
}  // namespace galley::worker::mesh
