#include "common/record/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "common/record/testing/sample.h"
#include "common/tree/testing/golden.h"
#include "galley/v1/record.pb.h"

namespace galley::record {
namespace {

using testing::HasSubstr;

TEST(RecipeTest, EncodingAndWeakKeyAreTheGoldens) {
  ExpectGolden("common/record/testdata/recipe.hex", HexLines(EncodeRecipe(SampleRecipe())));
  ExpectGolden(
      "common/record/testdata/weak_key.txt",
      WeakKey(Digest::Of("void main() {}"), RecipeDigest(SampleRecipe()), "main").ToString() +
          "\n");
}

TEST(RecipeTest, ProtobufReadsAndWritesTheSameBytes) {
  const std::string bytes = EncodeRecipe(SampleRecipe());
  v1::Recipe message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  EXPECT_EQ(message.cooker(), "shader");
  EXPECT_EQ(message.SerializeAsString(), bytes);
}

TEST(RecipeTest, TheWeakKeyIsTheDigestOfItsMessage) {
  const Digest source = Digest::Of("source"), recipe = RecipeDigest(SampleRecipe());
  v1::WeakKey message;
  message.set_schema(kKeySchema);
  message.set_source_hash(std::string(source.hash()));
  message.set_source_size(source.size_bytes());
  message.set_recipe_hash(std::string(recipe.hash()));
  message.set_recipe_size(recipe.size_bytes());
  message.set_trust_domain("main");
  EXPECT_EQ(WeakKey(source, recipe, "main"), Digest::Of(message.SerializeAsString()));
}

TEST(RecipeTest, DecodingGivesBackWhatWasEncoded) {
  EXPECT_EQ(*DecodeRecipe(EncodeRecipe(SampleRecipe())), SampleRecipe());
  EXPECT_EQ(*DecodeRecipe(EncodeRecipe({})), Recipe());
}

TEST(RecipeTest, EveryPartOfItChangesTheWeakKey) {
  std::set<Digest> keys;
  const auto add = [&](const std::function<void(Recipe&)>& change, std::string_view trust,
                       std::string_view source) {
    Recipe recipe = SampleRecipe();
    change(recipe);
    EXPECT_TRUE(keys.insert(WeakKey(Digest::Of(source), RecipeDigest(recipe), trust)).second);
  };
  add([](Recipe&) {}, "main", "a");
  add([](Recipe&) {}, "other", "a");
  add([](Recipe&) {}, "", "a");
  add([](Recipe&) {}, "main", "b");
  add([](Recipe& r) { r.cooker = "copy"; }, "main", "a");
  add([](Recipe& r) { r.identity += "x"; }, "main", "a");
  add([](Recipe& r) { r.extension = "vert"; }, "main", "a");
  add([](Recipe& r) { r.settings = "{}"; }, "main", "a");
}

TEST(RecipeTest, WhatEncodeRecipeWouldNotHaveWrittenIsRefused) {
  EXPECT_THAT(DecodeRecipe("").status().ToString(), HasSubstr("schema 0, expected 1"));
  EXPECT_THAT(DecodeRecipe(std::string("\x08\x02")).status().ToString(), HasSubstr("schema 2"));
  EXPECT_THAT(DecodeRecipe(std::string("\x12\x01x\x08\x01")).status().ToString(),
              HasSubstr("canonical"));
  EXPECT_THAT(DecodeRecipe(std::string("\x08\x01\x32\x01x")).status().ToString(),
              HasSubstr("no field 6"));
  EXPECT_THAT(DecodeRecipe(std::string("\x08\x01\x10\x01")).status().ToString(),
              HasSubstr("cooker: expected bytes"));
}

TEST(CanonicalJsonTest, KeysAreSortedAndSpaceIsGone) {
  EXPECT_EQ(*CanonicalJson(" { \"b\" : [ 1 , true , null ] , \"a\" : { } , \"B\":\"x\" } "),
            R"({"B":"x","a":{},"b":[1,true,null]})");
  EXPECT_EQ(*CanonicalJson("[]"), "[]");
  EXPECT_EQ(*CanonicalJson("\"\""), "\"\"");
  EXPECT_EQ(*CanonicalJson("[\"\",\"\",[],{}]"), "[\"\",\"\",[],{}]");
}

TEST(CanonicalJsonTest, NumbersHaveOneForm) {
  EXPECT_EQ(*CanonicalJson("[1, 1.0, 1e0, 10E-1, -0, -0.0, 0.0]"), "[1,1,1,1,0,0,0]");
  EXPECT_EQ(*CanonicalJson("[0.1, 1.50, 100000.0, 1e16, 1e300, 5e-324]"),
            "[0.1,1.5,100000,10000000000000000,1e+300,5e-324]");
  EXPECT_EQ(*CanonicalJson("[9223372036854775807, -9223372036854775808, 18446744073709551615]"),
            "[9223372036854775807,-9223372036854775808,18446744073709551615]");
}

TEST(CanonicalJsonTest, StringsAreEscapedWhereTheyMustBeOnly) {
  EXPECT_EQ(*CanonicalJson(R"("\u00e9\/\u0001\n\"\\\u0041")"), "\"\xc3\xa9/\\u0001\\n\\\"\\\\A\"");
}

TEST(CanonicalJsonTest, IsItsOwnCanonicalForm) {
  for (const char* text : {"[1e16,1e22,123456789012345680000,1e-7,0.30000000000000004]",
                           R"({"a":"\u001f\u007f"})", "[18446744073709551616]"}) {
    const std::string once = *CanonicalJson(text);
    EXPECT_EQ(*CanonicalJson(once), once);
  }
}

TEST(CanonicalJsonTest, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,}", "01", "nul", "1 2", "\"\xff\"", "\"\n\"",
                           "{a:1}", "1e999", "\"\\ud800\""}) {
    EXPECT_EQ(CanonicalJson(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(CanonicalJsonTest, AKeyThatIsThereTwiceIsNamed) {
  EXPECT_THAT(CanonicalJson(R"({"a":{"x":1,"y":2,"\u0078":3}})").status().ToString(),
              HasSubstr(R"(key "x" is there twice)"));
  EXPECT_TRUE(CanonicalJson(R"([{"x":1},{"x":1}])").ok());
}

TEST(CanonicalJsonTest, BottomlessNestingIsRefused) {
  EXPECT_TRUE(CanonicalJson(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_THAT(CanonicalJson(std::string(100'000, '[')).status().ToString(), HasSubstr("64 levels"));
}

}  // namespace
}  // namespace galley::record
