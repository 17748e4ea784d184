#include "director/serve/device_face/device_json.h"

#include <string>

#include "common/base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace galley::director {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(DeviceJsonTest, AnAskMayNameCulturesARootAndTheLastGoodVersion) {
  const Digest root = Digest::Of("root");
  const auto ask = ReadSessionAsk(R"({"platform":"linux","cultures":["en","de"],"root":")" +
                                  root.ToString() + R"(","last_good":true,"succeeds":"s0"})");
  ASSERT_TRUE(ask.ok()) << ask.status();
  EXPECT_EQ(ask->platform, "linux");
  EXPECT_THAT(ask->cultures, ElementsAre("en", "de"));
  EXPECT_EQ(ask->root, root);
  EXPECT_TRUE(ask->last_good);
  EXPECT_EQ(ask->succeeds, "s0");
  const auto small = ReadSessionAsk(R"({"platform":"linux"})");
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_FALSE(small->root.has_value() || small->last_good);
}

TEST(DeviceJsonTest, AsksThatMakeNoSenseAreRefusedWithASentence) {
  for (const std::string text :
       {"", "{", "[]", "null", "7", "{}", R"({"platform":""})", R"({"platform":7})",
        R"({"platform":"linux","root":"ab/7"})", R"({"platform":"linux","root":null})",
        R"({"platform":"linux","last_good":"yes"})", R"({"platform":"linux","succeeds":""})",
        R"({"platform":"linux","cultures":"de"})", R"({"platform":"linux","cultures":[7]})",
        R"({"platform":"linux","plattform":1})", R"({"platform":"linux"} x)"}) {
    const auto ask = ReadSessionAsk(text);
    EXPECT_TRUE(absl::IsInvalidArgument(ask.status())) << text;
    EXPECT_TRUE(MessageOf(ask.status()).ends_with(".")) << MessageOf(ask.status());
  }
  EXPECT_THAT(MessageOf(ReadSessionAsk(R"({"platform":"linux","plattform":1})").status()),
              HasSubstr("\"plattform\""));
}

TEST(DeviceJsonTest, AsksAreBounded) {
  const json long_name = {{"platform", std::string(kAskedTextBytesMax + 1, 'x')}};
  EXPECT_FALSE(ReadSessionAsk(long_name.dump()).ok());
  json many = {{"platform", "linux"}, {"cultures", json::array()}};
  for (size_t i = 0; i <= kCulturesAskedMax; ++i) many["cultures"].push_back("de");
  EXPECT_FALSE(ReadSessionAsk(many.dump()).ok());
  EXPECT_FALSE(ReadSessionAsk(std::string(60'000, '[')).ok());
}

TEST(DeviceJsonTest, ASessionSaysItsRootAndTheNewestOne) {
  DeviceSessionState session{.id = "s1",
                             .platform = "linux",
                             .cultures = {"de"},
                             .root = Digest::Of("old"),
                             .newest_root = Digest::Of("new"),
                             .is_frozen = true};
  const json object = json::parse(SessionJson(session));
  EXPECT_EQ(object["session"], "s1");
  EXPECT_EQ(object["cultures"], json::array({"de"}));
  EXPECT_EQ(object["root"], Digest::Of("old").ToString());
  EXPECT_EQ(object["newest_root"], Digest::Of("new").ToString());
  EXPECT_EQ(object["frozen"], true);
  session.newest_root.reset();
  EXPECT_TRUE(json::parse(SessionJson(session))["newest_root"].is_null());
}

TEST(DeviceJsonTest, ARecordListsItsOutputs) {
  const Digest key = Digest::Of("key"), output = Digest::Of("output");
  const json object = json::parse(RecordJson(
      {.action_key = key, .outputs = {{.suffix = "", .digest = output, .is_executable = true}}}));
  EXPECT_EQ(object, json({{"action_key", key.ToString()},
                          {"outputs", json::array({json{{"suffix", ""},
                                                        {"digest", output.ToString()},
                                                        {"executable", true}}})}}));
  const json verdict =
      json::parse(RecordJson({.action_key = key, .error = "no image", .log = "ab/1"}));
  EXPECT_EQ(verdict["error"], "no image");
  EXPECT_EQ(verdict["log"], "ab/1");
  EXPECT_TRUE(verdict["outputs"].empty());
}

TEST(DeviceJsonTest, ADifferenceNamesTheFilesOfTheNewerRoot) {
  const Digest after = Digest::Of("1");
  EXPECT_EQ(DifferenceJson({}), "{}");
  EXPECT_EQ(json::parse(DifferenceJson({.added = {{.path = "Game/a", .after = after}},
                                        .modified = {{.path = "Game/b"}},
                                        .removed = {"Game/c"},
                                        .stale = {"Game/d"}})),
            json({{"added", json::array({{{"path", "Game/a"}, {"after", after.ToString()}}})},
                  {"modified", json::array({{{"path", "Game/b"}, {"after", nullptr}}})},
                  {"removed", {"Game/c"}},
                  {"stale", {"Game/d"}}}));
  EXPECT_EQ(DifferenceJson({.is_cut = true}), "{\"cut\":true}");
}

TEST(DeviceJsonTest, AnEventHasOnlyTheListsThatSaySomething) {
  const devices::ChangeEvent event{
      .id = {.term = 3, .number = 17},
      .world = 7,
      .root = Digest::Of("root"),
      .modified = {{.path = "Game/a", .before = Digest::Of("1"), .after = std::nullopt}},
      .failures = {{.package = "/Game/b", .error = "two\nlines", .log = ""}},
      .conflicts = {{.path = "Game/c", .packages = {"/A", "/B"}}}};
  const std::string text = EventJson(event);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const json object = json::parse(text);
  EXPECT_EQ(object["world"], 7);
  EXPECT_EQ(object["root"], Digest::Of("root").ToString());
  EXPECT_EQ(object["modified"][0]["before"], Digest::Of("1").ToString());
  EXPECT_TRUE(object["modified"][0]["after"].is_null());
  EXPECT_EQ(object["failures"][0]["text"], "two\nlines");
  EXPECT_FALSE(object["failures"][0].contains("log"));
  EXPECT_EQ(object["conflicts"][0]["packages"], json::array({"/A", "/B"}));
  for (const char* name : {"added", "removed", "stale", "healed", "cut"})
    EXPECT_FALSE(object.contains(name)) << name;
}

}  // namespace
}  // namespace galley::director
