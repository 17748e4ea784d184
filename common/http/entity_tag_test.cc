#include "common/http/entity_tag.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The tags of a field, as text; "*" and "malformed" stand for themselves.
std::vector<std::string> TagsOf(std::string_view value) {
  const std::optional<EntityTags> parsed = ParseEntityTags(value);
  if (!parsed) return {"malformed"};
  if (parsed->is_any) return {"*"};
  std::vector<std::string> texts;
  for (const EntityTag& tag : parsed->tags) texts.push_back(TextOf(tag));
  return texts;
}

TEST(EntityTagTest, ATagIsAQuotedTextAndPerhapsWeak) {
  EXPECT_EQ(*ParseEntityTag("\"a,b/c\\\""), (EntityTag{false, "a,b/c\\"}));
  EXPECT_EQ(*ParseEntityTag("W/\"a\""), (EntityTag{true, "a"}));
  EXPECT_EQ(*ParseEntityTag("\"\""), (EntityTag{false, ""}));
  EXPECT_EQ(*ParseEntityTag("\"\xff\""), (EntityTag{false, "\xff"}));
}

TEST(EntityTagTest, OtherTextsAreNoTag) {
  for (const char* text :
       {"", "a", "*", "\"", "\"a", "a\"", "w/\"a\"", "W\"a\"", "W/", "W/ \"a\"", "\"a b\"",
        "\"a\tb\"", "\"a\x7f\"", "\"a\"b", "\"a\"\"b\"", " \"a\"", "\"a\" ", "'a'"}) {
    EXPECT_FALSE(ParseEntityTag(text)) << text;
  }
}

TEST(EntityTagTest, ATagIsWrittenAsItIsRead) {
  for (const char* text : {"\"a\"", "W/\"a\"", "\"\"", "\"5e1f-zstd\"", "\"W/\""})
    EXPECT_EQ(TextOf(*ParseEntityTag(text)), text);
}

TEST(EntityTagTest, AFieldIsAListOfTags) {
  EXPECT_THAT(TagsOf("\"a\""), ElementsAre("\"a\""));
  EXPECT_THAT(TagsOf("\"a\", W/\"b\",\t\"c\""), ElementsAre("\"a\"", "W/\"b\"", "\"c\""));
  EXPECT_THAT(TagsOf("\"a,b\",\"*\""), ElementsAre("\"a,b\"", "\"*\""));
  EXPECT_THAT(TagsOf(" , \"a\" ,, \"b\" , "), ElementsAre("\"a\"", "\"b\""));
  EXPECT_THAT(TagsOf(""), IsEmpty());
}

TEST(EntityTagTest, AStarStandsAlone) {
  EXPECT_THAT(TagsOf("*"), ElementsAre("*"));
  EXPECT_THAT(TagsOf(" * "), ElementsAre("*"));
  for (const char* value : {"*, \"a\"", "\"a\", *", "**", "*,"})
    EXPECT_THAT(TagsOf(value), ElementsAre("malformed")) << value;
}

TEST(EntityTagTest, AListWithSomethingElseIsMalformed) {
  for (const char* value : {"a", "\"a\" \"b\"", "\"a\"\"b\"", "\"a\", b", "\"a", "\"a\", \"b",
                            "\"a\";q=1", "\"a b\"", "w/\"a\""}) {
    EXPECT_THAT(TagsOf(value), ElementsAre("malformed")) << value;
  }
}

// The table of RFC 9110, 8.8.3.2.
TEST(EntityTagTest, OnlyStrongTagsMatchStrongly) {
  struct Case {
    const char* a;
    const char* b;
    bool strongly;
    bool weakly;
  };
  const Case cases[] = {
      {"W/\"1\"", "W/\"1\"", false, true}, {"W/\"1\"", "W/\"2\"", false, false},
      {"W/\"1\"", "\"1\"", false, true},   {"\"1\"", "\"1\"", true, true},
      {"\"1\"", "\"2\"", false, false},    {"\"a\"", "\"A\"", false, false},
  };
  for (const Case& c : cases) {
    const EntityTag a = *ParseEntityTag(c.a), b = *ParseEntityTag(c.b);
    EXPECT_EQ(MatchStrongly(a, b), c.strongly) << c.a << " " << c.b;
    EXPECT_EQ(MatchStrongly(b, a), c.strongly) << c.a << " " << c.b;
    EXPECT_EQ(MatchWeakly(a, b), c.weakly) << c.a << " " << c.b;
    EXPECT_EQ(MatchWeakly(b, a), c.weakly) << c.a << " " << c.b;
  }
}

}  // namespace
}  // namespace galley::http
