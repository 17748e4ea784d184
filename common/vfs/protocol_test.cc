#include "common/vfs/protocol.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::HasSubstr;

const std::string kDigest = std::string(64, 'a') + "/12";

TEST(ProtocolTest, ASessionAsADirectorAnswers) {
  const auto state = ParseSession(R"({"cultures": [], "frozen": true, "last_good": false,
      "newest_root": null, "platform": "pc", "session": "0f3a", "root": ")" +
                                  kDigest + "\"}");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->id, "0f3a");
  EXPECT_EQ(state->root.ToText(), kDigest);
  EXPECT_FALSE(state->newest_root);
  EXPECT_TRUE(state->is_frozen);
}

TEST(ProtocolTest, WhatIsNoSessionIsRefused) {
  for (const std::string& text :
       {std::string(""), std::string("[]"), std::string("{}"), std::string("{\"session\": 1}"),
        "{\"session\": \"a/b\", \"root\": \"" + kDigest + "\"}",
        "{\"session\": \"\", \"root\": \"" + kDigest + "\"}",
        "{\"session\": \"" + std::string(1'000, 'a') + "\", \"root\": \"" + kDigest + "\"}",
        std::string("{\"session\": \"a\", \"root\": \"aa/1\"}"), std::string(100'000, '[')})
    EXPECT_FALSE(ParseSession(text)) << text.substr(0, 80);
}

TEST(ProtocolTest, ARequestHasWhatIsWanted) {
  const std::string json = ToJson({.platform = "pc",
                                   .cultures = {"de"},
                                   .takes_last_good = true,
                                   .root = BlobId::Parse(kDigest),
                                   .succeeds = "s"});
  EXPECT_EQ(json, R"({"cultures":["de"],"last_good":true,"platform":"pc","root":")" + kDigest +
                      R"(","succeeds":"s"})");
  EXPECT_EQ(ToJson({.platform = "pc"}), R"({"cultures":[],"platform":"pc"})");
}

TEST(ProtocolTest, ADifferenceAsADirectorAnswers) {
  const auto difference =
      ParseDifference(R"({"added": [{"path": "Game/a", "after": null}],
      "modified": [{"path": "Game/b", "after": ")" +
                      kDigest + R"("}], "removed": ["Game/c"], "stale": ["Game/d"]})");
  ASSERT_TRUE(difference);
  ASSERT_EQ(difference->added.size(), 1u);
  EXPECT_EQ(difference->added[0].path, "Game/a");
  EXPECT_FALSE(difference->added[0].after);
  ASSERT_EQ(difference->modified.size(), 1u);
  EXPECT_EQ(difference->modified[0].after->ToText(), kDigest);
  EXPECT_EQ(difference->removed, std::vector<std::string>{"Game/c"});
  EXPECT_EQ(difference->stale, std::vector<std::string>{"Game/d"});
  EXPECT_FALSE(difference->is_cut);
  EXPECT_TRUE(ParseDifference("{}"));
  EXPECT_FALSE(ParseDifference("{\"added\": " + std::string(1'000'000, '[')));
  for (const char* text : {"", "[]", R"({"removed": ["../a"]})", R"({"added": [{"after": null}]})"})
    EXPECT_FALSE(ParseDifference(text)) << text;
}

TEST(ProtocolTest, AProblemSaysAtLeastItsStatus) {
  const ResponseHead head{.status = 502};
  EXPECT_EQ(ParseProblem(head, R"({"text": "no", "package": "/Game/a"})").text, "no");
  EXPECT_THAT(ParseProblem(head, "<html>").text, HasSubstr("502"));
}

TEST(ProtocolTest, TheDigestOfABody) {
  // The digest is that of "abc".
  const auto hash = ParseReprDigest("sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:");
  ASSERT_TRUE(hash);
  EXPECT_EQ(*hash, Sha256::Of("abc"));
  EXPECT_TRUE(ParseReprDigest("x=:AA==:, sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"));
  for (const char* field : {"", "sha-256=:", "sha-256=:AA==:", "sha-512=:AA==:",
                            "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
                            "sha-256=:ungWv48Bz pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"})
    EXPECT_FALSE(ParseReprDigest(field)) << field;
}

TEST(BlobIdTest, ItsTextIsReadStrictly) {
  EXPECT_EQ(BlobId::Parse(kDigest)->size, 12u);
  const std::string hex(64, 'a');
  for (const std::string& text :
       {hex, hex + "/", hex + "/01", hex + "/-1", hex + "/9223372036854775808", hex + "/1 ",
        hex.substr(1) + "/1", std::string(64, 'A') + "/1"})
    EXPECT_FALSE(BlobId::Parse(text)) << text;
  EXPECT_TRUE(BlobId::Parse(hex + "/9223372036854775807"));
}

}  // namespace
}  // namespace galley::vfs
