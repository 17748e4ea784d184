#include "worker/cookers/data/data_cooker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/hex.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/record/output_names.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/cbor/cbor.h"
#include "worker/cookers/data/json_source.h"
#include "worker/cookers/source_looker.h"

namespace galley::worker {
namespace {

using nlohmann::json;
using record::ReferenceKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ErrorOf(std::string_view text) {
  const auto value = ParseJsonSource(text);
  EXPECT_TRUE(absl::IsInvalidArgument(value.status())) << text;
  return MessageOf(value.status());
}

std::string Cbor(std::string_view text) {
  const auto value = ParseJsonSource(text);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() ? HexEncode(EncodeCbor(*value)) : "";
}

TEST(JsonSourceTest, ErrorsNameLineAndColumn) {
  EXPECT_THAT(ErrorOf("{\n  \"a\": 1,\n  \"b\" 2\n}"), HasSubstr("line 3, column "));
  EXPECT_THAT(ErrorOf("[1,2"), HasSubstr("line 1, column "));
}

TEST(JsonSourceTest, DuplicateKeyIsRefusedWhereItStands) {
  EXPECT_THAT(ErrorOf("{\"a\": 1,\n \"a\": 2}"),
              HasSubstr("line 2, column 4: the object has the key \"a\" twice"));
}

TEST(JsonSourceTest, SameKeyInDifferentObjectsIsFine) {
  EXPECT_TRUE(ParseJsonSource(R"({"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]})").ok());
}

TEST(JsonSourceTest, ByteOrderMarkIsNamed) {
  EXPECT_THAT(ErrorOf("\xEF\xBB\xBF{}"), HasSubstr("byte order mark"));
}

TEST(JsonSourceTest, EmptyFileIsNamed) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("the file is empty"));
  EXPECT_THAT(ErrorOf(" \n"), HasSubstr("unexpected end of input"));
}

TEST(JsonSourceTest, WhatFollowsTheValueIsRefused) {
  EXPECT_THAT(ErrorOf("{} {}"), HasSubstr("line 1, column 4"));
  EXPECT_THAT(ErrorOf(std::string_view("{}\n\0junk", 8)),
              HasSubstr("line 2, column 1: a NUL byte"));
}

TEST(JsonSourceTest, NanAndNumbersOutOfRangeAreRefused) {
  EXPECT_THAT(ErrorOf("[NaN]"), HasSubstr("line 1, column"));
  EXPECT_THAT(ErrorOf("[1e999]"), HasSubstr("the number 1e999 is too large"));
}

TEST(JsonSourceTest, TextThatIsNotUtf8IsRefused) {
  EXPECT_THAT(ErrorOf("[\"\xFF\"]"), HasSubstr("UTF-8"));
}

TEST(JsonSourceTest, NestingHasALimit) {
  const std::string fits = std::string(kJsonDepthMax, '[') + std::string(kJsonDepthMax, ']');
  EXPECT_TRUE(ParseJsonSource(fits).ok());
  EXPECT_THAT(ErrorOf(std::string(kJsonDepthMax + 1, '[')),
              HasSubstr("column 513: arrays and objects nest deeper"));
}

TEST(JsonSourceTest, ALongLineIsReadAndOneAboveTheLimitRefusedUnread) {
  EXPECT_TRUE(ParseJsonSource("[\"" + std::string(1 << 20, 'x') + "\"]").ok());
  EXPECT_EQ(ErrorOf(std::string(kJsonBytesMax + 1, ' ')),
            "the file has 268435457 bytes; JSON may have at most 268435456");
}

// The parser quotes the token that it read last.
TEST(JsonSourceTest, OfALongTokenAnErrorQuotesTheBeginning) {
  const std::string name(1 << 20, 'x');
  const auto expect = [](const std::string& text, const std::string& place,
                         const std::string& said) {
    const std::string error = ErrorOf(text);
    EXPECT_THAT(error, testing::StartsWith(place)) << error.substr(0, 400);
    EXPECT_THAT(error.substr(0, 400), HasSubstr(said));
    EXPECT_LT(error.size(), 400u);
    EXPECT_TRUE(error.ends_with("..."));
  };
  expect("[\"" + name, "line 1, column 1048578: ", "missing closing quote");
  expect("{\"" + name + "\": 1, \"" + name + "\": 2}", "line 1, column 2097162: ", "has the key");
  expect("[1" + std::string(1 << 20, '0') + "]", "line 1, column ", "the number 1000");
  std::string two_bytes = "[\"";
  for (int i = 0; i < 1000; ++i) two_bytes += "\u00e9";
  for (const char* shift : {"", "x"}) EXPECT_TRUE(IsUtf8(ErrorOf(two_bytes + shift + two_bytes)));
}

// Examples of RFC 8949, appendix A.
TEST(CborTest, HeadsAreTheShortest) {
  EXPECT_EQ(Cbor("[0, 23, 24, 255, 256, 65536, 4294967296, 18446744073709551615]"),
            "880017181818ff1901001a000100001b00000001000000001bffffffffffffffff");
  EXPECT_EQ(Cbor("[-1, -24, -25, -1000, -9223372036854775808]"),
            "8520373818"
            "3903e7"
            "3b7fffffffffffffff");
  EXPECT_EQ(Cbor(R"(["", "IETF", null, true, false])"), "85606449455446f6f5f4");
}

TEST(CborTest, FloatsAreTheShortestThatKeepTheValue) {
  EXPECT_EQ(Cbor("[1.0, 1.5, 65504.0, -4.0]"), "84f93c00f93e00f97bfff9c400");
  EXPECT_EQ(Cbor("[0.0, -0.0, 5.960464477539063e-8, 0.00006103515625]"),
            "84f90000f98000f90001f90400");
  EXPECT_EQ(Cbor("[100000.0, 3.4028234663852886e+38]"), "82fa47c35000fa7f7fffff");
  EXPECT_EQ(Cbor("[1.1, 1.0e+300]"), "82fb3ff199999999999afb7e37e43c8800759c");
  // A subnormal half with one bit too many becomes a single.
  EXPECT_EQ(Cbor("[8.940696716308594e-8]"), "81fa33c00000");
}

TEST(CborTest, KeysComeInTheOrderOfTheirEncodings) {
  EXPECT_EQ(Cbor(R"({"aa": 1, "b": 2, "a": 3})"),
            "a3616103616202626161"
            "01");
}

class DataCookerTest : public testing::Test {
 protected:
  // Cooks, and keeps the context for questions.
  absl::Status Cook(std::string source, const json& settings = json::object()) {
    context_ = std::make_unique<FakeCookContext>(cooker_->description(), "/Game/maps/town.level",
                                                 std::move(source), settings);
    return LoadAndCook(*cooker_, *context_);
  }
  json Output() const { return json::from_cbor(context_->output(".cbor")); }

  std::unique_ptr<Cooker> cooker_ = CreateDataCooker();
  std::unique_ptr<FakeCookContext> context_;
};

TEST_F(DataCookerTest, CborHoldsWhatTheJsonHeld) {
  const std::string source =
      R"({"name": "Town", "light": [0.5, 1, -3], "on": true, "x": null, "ü": "é"})";
  ASSERT_TRUE(Cook(source).ok());
  EXPECT_EQ(Output(), json::parse(source));
  EXPECT_THAT(context_->looks(), IsEmpty());
}

TEST_F(DataCookerTest, ReferencesAreRecordedAsWrittenAndKept) {
  const std::string source =
      R"({"a": {"$ref": "/Game/x.png"}, "b": [{"$soft": "../y.png"}], "c": {"$editor": ".\\z.png"}})";
  ASSERT_TRUE(Cook(source).ok());
  EXPECT_THAT(context_->references(),
              ElementsAre(record::Reference{"/Game/x.png", ReferenceKind::kHard},
                          record::Reference{"../y.png", ReferenceKind::kSoft},
                          record::Reference{".\\z.png", ReferenceKind::kEditor}));
  EXPECT_EQ(Output(), json::parse(source));
}

TEST_F(DataCookerTest, ReferenceKeyInAnotherFormIsDataAndAWarning) {
  ASSERT_TRUE(Cook(R"({"a": {"$ref": "x", "more": 1}, "b": [{"$soft": 3}]})").ok());
  EXPECT_THAT(context_->references(), IsEmpty());
  EXPECT_THAT(context_->warnings(),
              ElementsAre(HasSubstr("/a: \"$ref\""), HasSubstr("/b/0: \"$soft\"")));
}

TEST_F(DataCookerTest, ReferenceThatIsNoPathIsAnErrorWithItsPlace) {
  const absl::Status status = Cook(R"({"a": [{"$ref": ""}]})");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(MessageOf(status), HasSubstr("/a/0"));
}

TEST_F(DataCookerTest, ItemsAreCounted) {
  ASSERT_TRUE(Cook(R"({"items": [1, 2, 3]})").ok());
  EXPECT_EQ(std::get<double>(context_->tags().at("items")), 3);
}

constexpr const char* kLevel = R"({"name": "Town", "items": [
  {"id": 1, "position": [5, 0, 15], "mesh": {"$ref": "../props/a.gltf"}},
  {"id": 2},
  {"id": 3, "position": [-0.5, 0, 3], "mesh": {"$ref": "/Game/b.gltf"}},
  {"id": 4, "position": [9.99, 7, 10], "next": {"$ref": "_gen/cell_-1_0.level"}},
  {"id": 5, "position": "here"}]})";

TEST_F(DataCookerTest, CellSizeZeroCutsNothing) {
  ASSERT_TRUE(Cook(kLevel).ok());
  EXPECT_TRUE(context_->generated().empty());
  EXPECT_EQ(Output(), json::parse(kLevel));
}

TEST_F(DataCookerTest, ItemsWithPositionGoToTheCellTheyStandIn) {
  ASSERT_TRUE(Cook(kLevel, {{"cell_size", 10}}).ok());
  ASSERT_EQ(context_->generated().size(), 2u);
  const auto& near = context_->generated().at("_gen/cell_0_1.level");
  EXPECT_EQ(near.cooker, "data");
  EXPECT_EQ(near.settings_json, R"({"cell_size":0})");
  const json items = json::parse(near.bytes)["items"];
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0]["id"], 1);
  EXPECT_EQ(items[1]["id"], 4);
  EXPECT_EQ(json::parse(context_->generated().at("_gen/cell_-1_0.level").bytes)["items"][0]["id"],
            3);
}

TEST_F(DataCookerTest, ParentKeepsTheOthersAndAHardReferenceToEachCell) {
  ASSERT_TRUE(Cook(kLevel, {{"cell_size", 10}}).ok());
  EXPECT_EQ(Output(),
            json::parse(R"({"name": "Town", "items": [{"id": 2}, {"id": 5, "position": "here"}],
    "$cells": [{"$ref": "_gen/cell_-1_0.level"}, {"$ref": "_gen/cell_0_1.level"}]})"));
  EXPECT_THAT(context_->references(),
              ElementsAre(record::Reference{"_gen/cell_-1_0.level", ReferenceKind::kHard},
                          record::Reference{"_gen/cell_0_1.level", ReferenceKind::kHard}));
}

TEST_F(DataCookerTest, ReferencesInMovedItemsStillPointAtTheSamePlace) {
  ASSERT_TRUE(Cook(kLevel, {{"cell_size", 10}}).ok());
  const json near = json::parse(context_->generated().at("_gen/cell_0_1.level").bytes)["items"];
  EXPECT_EQ(near[0]["mesh"]["$ref"], "../../../props/a.gltf");
  EXPECT_EQ(near[1]["next"]["$ref"], "cell_-1_0.level");
  const json west = json::parse(context_->generated().at("_gen/cell_-1_0.level").bytes)["items"];
  EXPECT_EQ(west[0]["mesh"]["$ref"], "/Game/b.gltf");
}

TEST_F(DataCookerTest, CellsThatCannotBeNumberedAreAnError) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      Cook(R"({"items": [{"position": [1e300, 0, 0]}]})", {{"cell_size", 1}})));
  EXPECT_TRUE(absl::IsInvalidArgument(Cook("{}", {{"cell_size", -1}})));
  EXPECT_TRUE(absl::IsInvalidArgument(Cook(R"({"$cells": 1, "items": []})", {{"cell_size", 1}})));
}

TEST(DataLookTest, ALookSaysWhatIsReferredToAndWhyAFileIsRefused) {
  const std::unique_ptr<Cooker> cooker = CreateDataCooker();
  const auto said_of = [&](const std::string& text) {
    FakeCookContext context(cooker->description(), "/Game/a.json", text);
    FileLook look;
    const absl::Status status =
        dynamic_cast<SourceLooker&>(*cooker).Look(context, LookDepth::kOutline, look);
    std::string said = status.ok() ? look.kind : look.flaw.empty() ? MessageOf(status) : look.flaw;
    for (const record::Reference& reference : context.references()) said += " " + reference.path;
    return said;
  };
  EXPECT_EQ(said_of(R"({"b": {"$ref": "b.json"}, "c": [{"$soft": "c.png"}]})"),
            "JSON b.json c.png");
  EXPECT_EQ(said_of("[1, 2]"), "JSON");
  EXPECT_EQ(said_of(""), "empty");
  EXPECT_EQ(said_of("// hello\n{}"), "not JSON");
  EXPECT_EQ(said_of("shader \"lit\" { albedo brick.png }"), "not JSON");
  EXPECT_EQ(said_of("{} {}"), "not JSON");
  EXPECT_EQ(said_of("\"\xff\""), "not JSON");
  EXPECT_THAT(said_of(R"({"a": 1, "a": 2})"), HasSubstr("the object has the key \"a\" twice"));
  EXPECT_THAT(said_of("\xEF\xBB\xBF{}"), HasSubstr("byte order mark"));
}

TEST_F(DataCookerTest, ThereIsOneOutputAndThereMayBeGeneratedPackages) {
  const record::OutputNames names =
      record::OutputNamesOf(CreateDataCooker()->description(), R"({"cell_size":8})", {});
  EXPECT_THAT(names.always, ElementsAre(".cbor"));
  EXPECT_FALSE(names.has_more);
  EXPECT_TRUE(names.may_generate);
}

}  // namespace
}  // namespace galley::worker
