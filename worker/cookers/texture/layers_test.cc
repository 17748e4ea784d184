// The setting `layers`: arrays, cube maps and arrays of cube maps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/texture/testing/block_decoder.h"
#include "worker/cookers/texture/testing/sample_images.h"
#include "worker/cookers/texture/texture_cooker.h"

namespace galley::worker::texture {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::VariantWith;

// A layer in a single colour; its red channel identifies the layer.
std::string Layer(uint8_t red, uint32_t width = 8, uint32_t height = 8, uint8_t alpha = 255) {
  return MakePng(Constant(width, height, {red, 0, 0, alpha}));
}

class LayersTest : public testing::Test {
 protected:
  // Puts "1.png" ... "17.png" beside the source /Game/sky/0.png, each in a colour of its own.
  LayersTest() {
    for (uint8_t i = 1; i < 18; ++i) files_[Path(i)] = Layer(i);
  }
  static std::string Path(uint32_t i) { return "/Game/sky/" + std::to_string(i) + ".png"; }
  static json Layers(uint32_t count, const char* layout = "array") {
    json paths = json::array();
    for (uint32_t i = 1; i <= count; ++i) paths.push_back(std::to_string(i) + ".png");
    return {{"format", "rgba8"}, {"color_space", "linear"}, {"layers", paths}, {"layout", layout}};
  }
  std::unique_ptr<FakeCookContext> Context(const json& settings,
                                           const std::string& source = Layer(0)) {
    auto context = std::make_unique<FakeCookContext>(cooker_->description(), "/Game/sky/0.png",
                                                     source, settings);
    for (const auto& [path, bytes] : files_) context->AddFile(path, bytes);
    context->SetPlatform("texture", "bc");
    return context;
  }
  Ktx2File CookAndRead(const json& settings) {
    const auto context = Context(settings);
    const absl::Status status = LoadAndCook(*cooker_, *context);
    EXPECT_TRUE(status.ok()) << status;
    return status.ok() ? ReadKtx2(context->output(".ktx2")) : Ktx2File{};
  }
  std::string ErrorOf(const json& settings, const std::string& source = Layer(0)) {
    const auto context = Context(settings, source);
    const absl::Status status = LoadAndCook(*cooker_, *context);
    return absl::IsInvalidArgument(status) ? MessageOf(status) : status.ToString();
  }

  std::unique_ptr<Cooker> cooker_ = CreateTextureCooker();
  std::map<std::string, std::string> files_;
};

// The red of the first texel of each image of an RGBA8 level.
std::vector<int> RedsOf(const Ktx2File::Level& level, size_t images_count) {
  const size_t image_bytes = level.bytes.size() / images_count;
  std::vector<int> reds;
  for (size_t i = 0; i < images_count; ++i)
    reds.push_back(static_cast<uint8_t>(level.bytes[i * image_bytes]));
  return reds;
}

TEST_F(LayersTest, ASidecarsSettingsAreResolvedAsTheyStand) {
  const absl::StatusOr<std::string> resolved = record::ResolveSettings(
      cooker_->description(), R"({"layers": ["b.png", "/Game/c.png"], "layout": "cube"})");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const json settings = json::parse(*resolved);
  EXPECT_EQ(settings["layers"], json({"b.png", "/Game/c.png"}));
  EXPECT_EQ(settings["layout"], "cube");
  EXPECT_EQ(json::parse(*record::ResolveSettings(cooker_->description(), "{}"))["layers"],
            json::array());
}

TEST_F(LayersTest, AnArrayHoldsTheSourceAndThenTheLayers) {
  const Ktx2File file = CookAndRead(Layers(2));
  EXPECT_EQ(file.layers_count, 3u);
  EXPECT_EQ(file.faces_count, 1u);
  ASSERT_EQ(file.levels.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(file.levels[i].bytes.size(), 3u * 4 * (8 >> i) * (8 >> i));
    EXPECT_THAT(RedsOf(file.levels[i], 3), ElementsAre(0, 1, 2));
  }
}

TEST_F(LayersTest, ACubeHasSixFacesAndNoLayers) {
  const Ktx2File file = CookAndRead(Layers(5, "cube"));
  EXPECT_EQ(file.layers_count, 0u);
  EXPECT_EQ(file.faces_count, 6u);
  EXPECT_THAT(RedsOf(file.levels[1], 6), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(LayersTest, ACubeArrayCountsCubes) {
  const Ktx2File file = CookAndRead(Layers(17, "cube_array"));
  EXPECT_EQ(file.layers_count, 3u);
  EXPECT_EQ(file.faces_count, 6u);
  std::vector<int> all(18);
  std::iota(all.begin(), all.end(), 0);
  for (const Ktx2File::Level& level : file.levels) EXPECT_EQ(RedsOf(level, 18), all);
  EXPECT_EQ(CookAndRead(Layers(5, "cube_array")).layers_count, 1u);
}

TEST_F(LayersTest, WithoutLayersThereIsNoArray) {
  const Ktx2File file = CookAndRead(Layers(0));
  EXPECT_EQ(file.layers_count, 0u);
  EXPECT_EQ(file.faces_count, 1u);
}

TEST_F(LayersTest, EachLayerIsEncodedAsItWouldBeAlone) {
  for (const char* format : {"bc1", "astc", "rgba16f"}) {
    json settings = Layers(1);
    settings["format"] = format;
    const Ktx2File both = CookAndRead(settings);
    settings["layers"] = json::array();
    const Ktx2File alone = CookAndRead(settings);
    FakeCookContext second(cooker_->description(), "/Game/sky/1.png", files_[Path(1)], settings);
    ASSERT_TRUE(LoadAndCook(*cooker_, second).ok());
    const Ktx2File other = ReadKtx2(second.output(".ktx2"));
    for (size_t i = 0; i < both.levels.size(); ++i)
      EXPECT_EQ(both.levels[i].bytes, alone.levels[i].bytes + other.levels[i].bytes) << format;
  }
}

TEST_F(LayersTest, SupercompressionTakesALevelAsAWhole) {
  json settings = Layers(2);
  const Ktx2File plain = CookAndRead(settings);
  settings["zstd"] = 3;
  const Ktx2File packed = CookAndRead(settings);
  for (size_t i = 0; i < plain.levels.size(); ++i)
    EXPECT_EQ(packed.levels[i].bytes, plain.levels[i].bytes);
}

TEST_F(LayersTest, AlphaInAnyLayerDecidesTheFormat) {
  json settings = Layers(2);
  settings.erase("format");
  EXPECT_EQ(CookAndRead(settings).vk_format, 131u);  // BC1
  files_[Path(2)] = Layer(2, 8, 8, 128);
  EXPECT_EQ(CookAndRead(settings).vk_format, 137u);  // BC3
}

TEST_F(LayersTest, EachFileIsObservedAndNoneIsAReference) {
  const auto context = Context(Layers(2));
  ASSERT_TRUE(LoadAndCook(*cooker_, *context).ok());
  EXPECT_THAT(context->looks(), ElementsAre("file(1.png)", "file(2.png)"));
  EXPECT_THAT(context->references(), IsEmpty());
}

TEST_F(LayersTest, TagsCountLayersAndFaces) {
  const auto context = Context(Layers(11, "cube_array"));
  ASSERT_TRUE(LoadAndCook(*cooker_, *context).ok());
  EXPECT_THAT(context->tags(), testing::IsSupersetOf({Pair("faces", VariantWith<double>(6)),
                                                      Pair("layers", VariantWith<double>(2))}));
}

TEST_F(LayersTest, LayersOfAnotherSizeAreNamedWithTheirSizes) {
  files_[Path(2)] = Layer(2, 4, 8);
  EXPECT_EQ(ErrorOf(Layers(2)),
            "all layers must be of one size: /Game/sky/0.png is 8 x 8, 2.png is 4 x 8");
}

TEST_F(LayersTest, HdrAndOthersDoNotMix) {
  files_["/Game/sky/light.hdr"] = MakeHdr(Constant(8, 8, {}), 1.0);
  json settings = Layers(0);
  settings["layers"] = {"/Game/sky/light.hdr"};
  EXPECT_EQ(ErrorOf(settings),
            "all layers must be HDR, or none: /Game/sky/0.png is not HDR, /Game/sky/light.hdr is "
            "HDR");
}

TEST_F(LayersTest, WhatIsNoImageIsNamed) {
  json settings = Layers(0);
  settings["layers"] = {"missing.png"};
  EXPECT_EQ(ErrorOf(settings), "setting \"layers\": missing.png: no such file");
  settings["layers"] = {"/Game/sky"};
  EXPECT_EQ(ErrorOf(settings), "setting \"layers\": /Game/sky: expected a file, not a folder");
  files_[Path(1)] = Layer(1).substr(0, 40);
  EXPECT_THAT(ErrorOf(Layers(1)),
              HasSubstr("setting \"layers\": 1.png: png: the file is truncated"));
  settings["layers"] = {""};
  EXPECT_EQ(ErrorOf(settings), "setting \"layers\": expected a list of paths, not [\"\"]");
}

TEST_F(LayersTest, CubesNeedSixSquareFaces) {
  EXPECT_EQ(ErrorOf(Layers(4, "cube")),
            "setting \"layers\": 4 paths; expected 5 with layout \"cube\": the source is +X, then "
            "-X +Y -Y "
            "+Z -Z");
  EXPECT_THAT(ErrorOf(Layers(6, "cube_array")), HasSubstr("6 paths; expected 5, 11, 17, ..."));
  EXPECT_EQ(ErrorOf(Layers(5, "cube"), Layer(0, 8, 4)),
            "setting \"layout\": a cube's faces are square, and the image is 8 x 4");
  EXPECT_THAT(ErrorOf(Layers(2048)), HasSubstr("2048 paths; expected at most 2047"));
}

TEST_F(LayersTest, TheMemoryOfAllLayersCounts) {
  const auto context = Context(Layers(2));
  context->set_memory_bytes_max(8 * 8 * 4 * 4 * 2);
  EXPECT_TRUE(absl::IsOutOfRange(LoadAndCook(*cooker_, *context)));
  context->set_memory_bytes_max(8 * 8 * 4 * 4 * 3);
  EXPECT_TRUE(LoadAndCook(*cooker_, *context).ok());
}

}  // namespace
}  // namespace galley::worker::texture
