#include "common/record/cooker_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/record/output_names.h"
#include "common/tree/testing/golden.h"

namespace galley::record {
namespace {

using testing::HasSubstr;

CookerDescription Texture() {
  const auto setting = [](const char* name, SettingType type, const char* value) {
    return SettingDescription{.name = name,
                              .type = type,
                              .default_json = value,
                              .choices = {},
                              .documentation = "What it does.",
                              .required = false};
  };
  CookerDescription cooker{.name = "texture",
                           .identity = "1;libpng=1.6.39",
                           .extensions = {"png"},
                           .outputs = {{.suffix = ".ktx2"},
                                       {.suffix = ".raw.*",
                                        .each_setting = "defines",
                                        .when_setting = "usage",
                                        .setting_value = "mask",
                                        .when_parameter = "texture",
                                        .parameter_prefix = "bc"}},
                           .documentation = "Pictures.",
                           .settings = {}};
  cooker.settings = {setting("usage", SettingType::kChoice, "\"color\""),
                     setting("mipmaps", SettingType::kBool, "true"),
                     setting("max_size", SettingType::kInteger, "null"),
                     setting("scale", SettingType::kNumber, "1"),
                     setting("block", SettingType::kString, "\"4x4\""),
                     setting("names", SettingType::kStringList, "[]"),
                     setting("parts", SettingType::kNumberList, "[]"),
                     setting("defines", SettingType::kTable, "{}")};
  cooker.settings[0].choices = {"color", "normal", "mask"};
  cooker.source_bytes_max = 1 << 20;
  cooker.has_more = true;
  cooker.may_generate = true;
  cooker.generates_if = "usage";
  cooker.generates_if_has = "color";
  return cooker;
}

std::string Resolved(std::string_view settings) {
  const auto resolved = ResolveSettings(Texture(), settings);
  return resolved.ok() ? *resolved : resolved.status().ToString();
}

TEST(CookerDescriptionTest, EncodingIsTheGolden) {
  ExpectGolden("common/record/testdata/descriptions.json",
               EncodeDescriptions({Texture(), {.name = "copy", .identity = "1"}}));
}

TEST(CookerDescriptionTest, DecodingGivesBackWhatWasEncoded) {
  CookerDescription command{.name = "command", .identity = "1"};
  command.holds_source = false;
  command.settings = {{.name = "argv",
                       .type = SettingType::kStringList,
                       .default_json = "null",
                       .choices = {},
                       .documentation = "",
                       .required = true}};
  const std::string text = EncodeDescriptions({Texture(), command});
  const auto decoded = DecodeDescriptions(text);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ((*decoded)[0].name, "command");
  EXPECT_TRUE((*decoded)[0].settings[0].required);
  EXPECT_EQ((*decoded)[1].settings[0].choices, Texture().settings[0].choices);
  EXPECT_EQ((*decoded)[1].settings[4].default_json, "\"4x4\"");
  EXPECT_FALSE((*decoded)[0].holds_source);
  EXPECT_EQ((*decoded)[0].source_bytes_max, 0u);
  EXPECT_TRUE((*decoded)[1].holds_source);
  EXPECT_EQ((*decoded)[1].source_bytes_max, 1u << 20);
  EXPECT_FALSE((*decoded)[0].has_more);
  EXPECT_FALSE((*decoded)[0].may_generate);
  EXPECT_TRUE((*decoded)[1].has_more);
  EXPECT_TRUE((*decoded)[1].may_generate);
  EXPECT_EQ(
      OutputNamesOf((*decoded)[1], R"({"defines":{"a":1},"usage":"mask"})", {{"texture", "bc7"}})
          .always,
      (std::vector<std::string>{".ktx2", ".raw.a"}));
  EXPECT_EQ(EncodeDescriptions(*decoded), text);
}

TEST(CookerDescriptionTest, AMistakeIsNamedWithItsPlace) {
  const auto refusal = [](std::string from, std::string_view to) {
    std::string text = EncodeDescriptions({Texture()});
    text.replace(text.find(from), from.size(), to);
    const auto decoded = DecodeDescriptions(text);
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
    return decoded.status().ToString();
  };
  EXPECT_THAT(refusal("galley.cookers.v2", "galley.cookers.v1"),
              HasSubstr("cookers.schema: expected galley.cookers.v2"));
  EXPECT_THAT(refusal("\"identity\"", "\"id\""),
              HasSubstr("cookers[0].identity: expected a string"));
  EXPECT_THAT(refusal("\"png\"", "1"),
              HasSubstr("cookers[0].extensions: expected a list of strings"));
  EXPECT_THAT(refusal("\"choice\"", "\"thing\""),
              HasSubstr("cookers[0].settings[0].type: expected bool"));
  EXPECT_THAT(refusal("\"default\": true", "\"default\": 3"),
              HasSubstr("settings[1].default: expected bool"));
  EXPECT_THAT(refusal("\".ktx2\"", "\"ktx2\""),
              HasSubstr("cookers[0].outputs[0].suffix: expected the suffix of an output"));
  EXPECT_THAT(refusal("\".raw.*\"", "\".raw\""),
              HasSubstr("cookers[0].outputs[1].suffix: expected a *"));
  EXPECT_THAT(refusal("\"each\": \"defines\"", "\"each\": \"usage\""),
              HasSubstr("outputs[1].each: expected a setting of the cooker that is a list"));
  EXPECT_THAT(refusal("\"setting\": \"usage\"", "\"setting\": \"names\""),
              HasSubstr("outputs[1].setting: expected a setting of the cooker that is a choice"));
  EXPECT_THAT(refusal("\"is\"", "\"equals\""), HasSubstr("outputs[1].is: expected a string"));
  EXPECT_THAT(refusal("\"parameter\": \"texture\"", "\"parameter\": \"\""),
              HasSubstr("outputs[1].parameter: expected a platform parameter"));
  EXPECT_THAT(refusal("\"begins\"", "\"ends\""), HasSubstr("outputs[1].begins: expected a string"));
  EXPECT_THAT(refusal("\"has_more\": true", "\"has_more\": 1"),
              HasSubstr("cookers[0].has_more: expected true or false"));
  EXPECT_FALSE(DecodeDescriptions("").ok());
  EXPECT_FALSE(DecodeDescriptions("[]").ok());
  EXPECT_FALSE(DecodeDescriptions(EncodeDescriptions({Texture(), Texture()})).ok());
}

TEST(ResolveSettingsTest, DefaultsLieUnderWhatIsGiven) {
  EXPECT_EQ(
      Resolved("{}"),
      R"({"block":"4x4","defines":{},"mipmaps":true,"names":[],"parts":[],"scale":1,"usage":"color"})");
  EXPECT_EQ(
      Resolved(
          R"({"mipmaps":false,"max_size":512,"usage":"mask","scale":0.5,"names":["x"],"defines":{"A":1}})"),
      R"({"block":"4x4","defines":{"A":1},"max_size":512,"mipmaps":false,"names":["x"],"parts":[],"scale":0.5,"usage":"mask"})");
}

TEST(ResolveSettingsTest, AWholeNumberIsAnIntegerHoweverWritten) {
  EXPECT_EQ(Resolved(R"({"max_size":512.0})"), Resolved(R"({"max_size":512})"));
}

TEST(ResolveSettingsTest, AValueOfTheWrongTypeIsNamed) {
  EXPECT_THAT(Resolved(R"({"mipmaps":1})"),
              HasSubstr("setting \"mipmaps\" of cooker \"texture\" is 1: expected bool"));
  EXPECT_THAT(Resolved(R"({"max_size":1.5})"), HasSubstr("expected integer"));
  EXPECT_THAT(Resolved(R"({"max_size":null})"), HasSubstr("expected integer"));
  EXPECT_THAT(Resolved(R"({"scale":"1"})"), HasSubstr("expected number"));
  EXPECT_THAT(Resolved(R"({"block":4})"), HasSubstr("expected string"));
  EXPECT_THAT(Resolved(R"({"names":[1]})"), HasSubstr("expected string list"));
  EXPECT_THAT(Resolved(R"({"parts":["1"]})"), HasSubstr("expected number list"));
  EXPECT_THAT(Resolved(R"({"defines":[]})"), HasSubstr("expected table"));
  EXPECT_THAT(Resolved(R"({"usage":"colour"})"),
              HasSubstr("expected one of color, normal, mask; did you mean \"color\"?"));
  EXPECT_THAT(Resolved("[]"), HasSubstr("expected a table"));
  EXPECT_THAT(Resolved("{"), HasSubstr("settings of cooker \"texture\""));
}

TEST(ResolveSettingsTest, AnUnknownSettingIsToldTheNearestName) {
  EXPECT_THAT(Resolved(R"({"mipmap":true})"),
              HasSubstr("cooker \"texture\" has no setting \"mipmap\"; did you mean \"mipmaps\"?"));
  EXPECT_THAT(Resolved(R"({"zzzzzz":true})"), HasSubstr("it has: usage, mipmaps"));
}

TEST(ResolveSettingsTest, ARequiredSettingMustBeGiven) {
  CookerDescription cooker = Texture();
  cooker.settings[2].required = true;
  EXPECT_THAT(ResolveSettings(cooker, "{}").status().ToString(),
              HasSubstr("setting \"max_size\" of cooker \"texture\" is missing"));
  EXPECT_TRUE(ResolveSettings(cooker, R"({"max_size":1})").ok());
}

TEST(NearestTest, IsTheOneWithTheFewestEdits) {
  EXPECT_EQ(Nearest("textrue", {"copy", "texture", "texture2d"}), "texture");
  EXPECT_EQ(Nearest("Texture", {"texture"}), "texture");
  EXPECT_EQ(Nearest("b", {"c", "a"}), "a");
  EXPECT_EQ(Nearest("mesh", {"audio", "shader"}), "");
  EXPECT_EQ(Nearest("x", {}), "");
}

}  // namespace
}  // namespace galley::record
