#include "common/record/output_names.h"

#include "common/record/cooker_description.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::record {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CookerDescription CookerWith(std::vector<OutputRule> rules) {
  return {.name = "cooker", .identity = "1", .outputs = std::move(rules)};
}

std::vector<std::string> Always(const CookerDescription& cooker, std::string_view settings,
                                const PlatformParameters& parameters = {}) {
  return OutputNamesOf(cooker, settings, parameters).always;
}

TEST(OutputNamesTest, ARuleWithoutConditionsHoldsAlways) {
  EXPECT_THAT(Always(CookerWith({{.suffix = ".glb"}, {.suffix = ""}}), "{}"),
              ElementsAre("", ".glb"));
  EXPECT_THAT(Always(CookerWith({{.suffix = ".glb"}}), "no settings"), ElementsAre(".glb"));
  EXPECT_THAT(Always(CookerWith({}), "{}"), IsEmpty());
}

TEST(OutputNamesTest, ASettingChooses) {
  const CookerDescription sound =
      CookerWith({{.suffix = ".opus", .when_setting = "codec", .setting_value = "opus"},
                  {.suffix = ".ogg", .when_setting = "codec", .setting_value = "vorbis"}});
  EXPECT_THAT(Always(sound, R"({"codec":"opus"})"), ElementsAre(".opus"));
  EXPECT_THAT(Always(sound, R"({"codec":"vorbis"})"), ElementsAre(".ogg"));
  for (const char* const settings : {R"({"codec":"opus2"})", R"({"codec":1})", "{}", "[]", "", "1"})
    EXPECT_THAT(Always(sound, settings), IsEmpty()) << settings;
}

TEST(OutputNamesTest, AParameterOfThePlatformChoosesByItsBeginning) {
  const CookerDescription shader =
      CookerWith({{.suffix = ".spv", .when_parameter = "shader", .parameter_prefix = "spirv-"},
                  {.suffix = ".msl", .when_parameter = "shader", .parameter_prefix = "msl-"},
                  {.suffix = ".reflect.cbor"}});
  EXPECT_THAT(Always(shader, "{}", {{"shader", "spirv-1.5"}, {"texture", "msl-"}}),
              ElementsAre(".reflect.cbor", ".spv"));
  EXPECT_THAT(Always(shader, "{}", {{"shader", "msl-2.1"}}), ElementsAre(".msl", ".reflect.cbor"));
  EXPECT_THAT(Always(shader, "{}", {{"shader", "hlsl"}}), ElementsAre(".reflect.cbor"));
  EXPECT_THAT(Always(shader, "{}"), ElementsAre(".reflect.cbor"));
}

TEST(OutputNamesTest, BothConditionsMustBeMet) {
  const CookerDescription cooker = CookerWith({{.suffix = ".a",
                                                .when_setting = "codec",
                                                .setting_value = "x",
                                                .when_parameter = "shader",
                                                .parameter_prefix = "y"}});
  EXPECT_THAT(Always(cooker, R"({"codec":"x"})", {{"shader", "y"}}), ElementsAre(".a"));
  EXPECT_THAT(Always(cooker, R"({"codec":"x"})", {{"shader", "x"}}), IsEmpty());
  EXPECT_THAT(Always(cooker, R"({"codec":"y"})", {{"shader", "y"}}), IsEmpty());
}

TEST(OutputNamesTest, ATableGivesAnOutputForEachKey) {
  const CookerDescription shader = CookerWith({{.suffix = ".d/*.spv", .each_setting = "variants"}});
  EXPECT_THAT(Always(shader, R"({"variants":{"fog":{},"a*b":{"X":1}}})"),
              ElementsAre(".d/a*b.spv", ".d/fog.spv"));
  EXPECT_THAT(Always(shader, R"({"variants":{}})"), IsEmpty());
  EXPECT_THAT(Always(shader, "{}"), IsEmpty());
}

TEST(OutputNamesTest, AListOfNumbersGivesAnOutputForEachPlace) {
  const CookerDescription mesh = CookerWith({{.suffix = ".d/lod*.glb", .each_setting = "lods"}});
  EXPECT_THAT(Always(mesh, R"({"lods":[0.5,0.25]})"), ElementsAre(".d/lod1.glb", ".d/lod2.glb"));
  EXPECT_THAT(Always(mesh, R"({"lods":[]})"), IsEmpty());
  EXPECT_THAT(Always(mesh, R"({"lods":3})"), IsEmpty());
}

TEST(OutputNamesTest, AListOfStringsGivesThem) {
  const CookerDescription command = CookerWith({{.suffix = "*", .each_setting = "outputs"}});
  EXPECT_THAT(Always(command, R"({"outputs":[".obj","",".d/x/y"]})"),
              ElementsAre("", ".d/x/y", ".obj"));
}

TEST(OutputNamesTest, EachSuffixIsThereOnceAndIsOneThatAnOutputCanHave) {
  const CookerDescription command = CookerWith({{.suffix = "*", .each_setting = "outputs"}});
  EXPECT_THAT(Always(command, R"({"outputs":[".b",".a",".b","../up","/x",".d",".d/../x"]})"),
              ElementsAre(".a", ".b"));
}

TEST(OutputNamesTest, TheCookerSaysWhetherThereMayBeMore) {
  CookerDescription cooker = CookerWith({{.suffix = ".a"}});
  const OutputNames exact = OutputNamesOf(cooker, "{}", {});
  EXPECT_FALSE(exact.has_more);
  EXPECT_FALSE(exact.may_generate);
  EXPECT_TRUE(MayHaveOutput(exact, ".a"));
  EXPECT_FALSE(MayHaveOutput(exact, ".d/a"));
  EXPECT_FALSE(MayHaveOutput(exact, ""));
  cooker.has_more = true;
  cooker.may_generate = true;
  const OutputNames more = OutputNamesOf(cooker, "{}", {});
  EXPECT_TRUE(more.may_generate);
  EXPECT_TRUE(MayHaveOutput(more, ".a"));
  EXPECT_TRUE(MayHaveOutput(more, ".d/a"));
  EXPECT_FALSE(MayHaveOutput(more, ".b"));
  EXPECT_NE(more, exact);
}

TEST(OutputNamesTest, ASettingSaysWhetherPackagesMayBeGenerated) {
  CookerDescription cooker = CookerWith({{.suffix = ".a"}});
  cooker.may_generate = true;
  cooker.generates_if = "cell_size";
  cooker.settings = {{.name = "cell_size",
                      .type = SettingType::kNumber,
                      .default_json = "0",
                      .documentation = ""}};
  const auto may = [&](std::string_view settings) {
    return OutputNamesOf(cooker, settings, {}).may_generate;
  };
  EXPECT_FALSE(may(R"({"cell_size":0})"));
  EXPECT_FALSE(may("{}"));
  EXPECT_TRUE(may(R"({"cell_size":64})"));
  cooker.generates_if = "argv";
  cooker.generates_if_has = "{result}";
  EXPECT_FALSE(may(R"({"argv":["sh","{input}"]})"));
  EXPECT_TRUE(may(R"({"argv":["sh","--out={result}"]})"));
  cooker.may_generate = false;
  EXPECT_FALSE(may(R"({"argv":["{result}"]})"));
}

}  // namespace
}  // namespace galley::record
