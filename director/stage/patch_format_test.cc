#include "director/stage/patch_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/base/wire_format.h"
#include "common/tree/testing/golden.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using tree::Difference;
using Kind = Difference::Kind;

tree::TreeFile File(const std::string& path, const std::string& content,
                    bool is_executable = false) {
  return {path, Digest::Of(content), is_executable};
}

// Returns an index with one difference of each kind.
PatchIndex Sample() {
  PatchIndex index;
  index.from = Digest::Of("from");
  index.to = Digest::Of("to");
  index.frames = {{30, 20}, {9, 5}};
  index.sources = {{"c", Digest::Of("old c")}, {"d/x", Digest::Of("dd")}};
  index.recipes = {{Digest::Of("added"), {{0, 0, 5}}},
                   {Digest::Of("new c"), {{1, 0, 3}, {0, 23, 2}}},
                   {Digest::Of("dd"), {{2, 0, 2}}}};
  std::sort(index.recipes.begin(), index.recipes.end(),
            [](const auto& a, const auto& b) { return a.digest < b.digest; });
  index.differences = {{Kind::kAdded, {}, File("a", "added", true)},
                       {Kind::kRemoved, File("b", "bb"), {}},
                       {Kind::kChanged, File("c", "old c"), File("c", "new c")},
                       {Kind::kRenamed, File("d/x", "dd"), File("e", "dd", true)}};
  return index;
}

PatchRecipe& RecipeOf(PatchIndex& index, const std::string& content) {
  return *std::find_if(index.recipes.begin(), index.recipes.end(), [&](const PatchRecipe& recipe) {
    return recipe.digest == Digest::Of(content);
  });
}

std::string WhyNot(const std::function<void(PatchIndex&)>& change) {
  PatchIndex index = Sample();
  change(index);
  const auto decoded = DecodePatchIndex(EncodePatchIndex(index));
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(decoded.status().message());
}

TEST(PatchFormatTest, GivesBackWhatItTook) {
  const auto index = DecodePatchIndex(EncodePatchIndex(Sample()));
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(*index, Sample());
}

TEST(PatchFormatTest, IsWrittenAsEver) {
  ExpectGolden("director/stage/testdata/patch_index.hex", HexLines(EncodePatchIndex(Sample())));
  EXPECT_EQ(EncodePatchHeader(), std::string("GALLEYPT\1\0\0\0\0\0\0\0", 16));
}

TEST(PatchFormatTest, RefusesPathsThatLeadElsewhere) {
  for (const char* path : {"../a", "/a", "a//b", "a/../b", "a\\b", "a\nb", "./a"}) {
    EXPECT_EQ(WhyNot([&](PatchIndex& index) { index.differences[0].after.path = path; }),
              "a path is not plain")
        << path;
    EXPECT_EQ(WhyNot([&](PatchIndex& index) { index.sources[0].path = path; }),
              "a path is not plain")
        << path;
  }
  for (const char* path : {".galley-apply/x", ".galley-root", ".galley-root.pending"}) {
    EXPECT_THAT(WhyNot([&](PatchIndex& index) { index.differences[0].after.path = path; }),
                HasSubstr("of Galley's own"));
  }
}

TEST(PatchFormatTest, RefusesWhatCannotBeOneTree) {
  EXPECT_THAT(WhyNot([](PatchIndex& index) { index.differences[3].after.path = "bb"; }),
              HasSubstr("differences are not in order"));
  EXPECT_THAT(WhyNot([](PatchIndex& index) { index.differences[3].after.path = "c/x"; }),
              HasSubstr("c is in the new tree twice, or a file and a folder"));
  EXPECT_THAT(WhyNot([](PatchIndex& index) {
                index.differences[2].after.path = index.differences[2].before.path = "d";
                index.differences[3].after.path = "d/y";
              }),
              HasSubstr("d is in the old tree twice, or a file and a folder"));
  EXPECT_THAT(WhyNot([](PatchIndex& index) {
                index.differences[0].after.path = "c";
                std::swap(index.differences[0], index.differences[1]);
              }),
              HasSubstr("c is in the new tree twice"));
  // The order would decide.
  EXPECT_EQ(WhyNot([](PatchIndex& index) { index.differences[3].before.path = "a"; }),
            "a goes and comes");
  EXPECT_EQ(WhyNot([](PatchIndex& index) {
              index.differences[3] = {Kind::kRenamed, File("f", "dd"), File("f2", "dd")};
              index.differences.push_back({Kind::kAdded, {}, File("f3", "dd")});
              index.differences.push_back({Kind::kRemoved, File("f3", "dd"), {}});
            }),
            "f3 goes and comes");
}

TEST(PatchFormatTest, RefusesDifferencesThatAreNone) {
  EXPECT_THAT(
      WhyNot([](PatchIndex& index) { index.differences[3].before.digest = Digest::Of("other"); }),
      HasSubstr("is renamed and changed"));
  WireWriter writer;
  writer.Element(6, "");
  EXPECT_THAT(std::string(DecodePatchIndex(writer.bytes()).status().message()),
              HasSubstr("names no file"));
}

TEST(PatchFormatTest, RefusesPiecesThatDoNotFit) {
  const auto with = [](const char* content, std::vector<PatchPiece> pieces) {
    return WhyNot([&](PatchIndex& index) { RecipeOf(index, content).pieces = pieces; });
  };
  EXPECT_EQ(with("added", {{3, 0, 5}}), "a piece is of no known file");
  EXPECT_EQ(with("added", {{0, 21, 5}}), "a piece lies outside of its file");
  EXPECT_EQ(with("added", {{0, 26, 5}}), "a piece lies outside of its file");
  EXPECT_EQ(with("added", {{0, UINT64_MAX - 1, 5}}), "a piece lies outside of its file");
  EXPECT_EQ(with("added", {{1, 3, 3}, {0, 0, 2}}), "a piece lies outside of its file");
  EXPECT_EQ(with("added", {{0, 0, 6}}), "pieces are more than what they make");
  EXPECT_EQ(with("added", {{0, 0, 5}, {0, 0, 0}}), "pieces are more than what they make");
  EXPECT_EQ(with("added", {{0, 0, 4}}), "pieces are less than what they make");
}

TEST(PatchFormatTest, RefusesRecipesThatAreTooFewOrTooMany) {
  EXPECT_THAT(WhyNot([](PatchIndex& index) { index.recipes.pop_back(); }),
              HasSubstr("recipes are not those"));
  EXPECT_THAT(WhyNot([](PatchIndex& index) { index.differences.erase(index.differences.begin()); }),
              HasSubstr("recipes are not those"));
  EXPECT_EQ(WhyNot([](PatchIndex& index) { std::swap(index.recipes[0], index.recipes[1]); }),
            "recipes are not in order");
  EXPECT_EQ(WhyNot([](PatchIndex& index) { index.recipes.push_back(index.recipes.back()); }),
            "recipes are not in order");
}

TEST(PatchFormatTest, RefusesFramesOfImpossibleSizes) {
  for (const LiteralFrame frame : {LiteralFrame{0, 5},
                                   {9, 0},
                                   {9, kLiteralFrameBytesMax + 1},
                                   {2 * kLiteralFrameBytesMax + 1, 5}}) {
    EXPECT_EQ(WhyNot([&](PatchIndex& index) { index.frames.push_back(frame); }),
              "a frame has no possible size");
  }
}

TEST(PatchFormatTest, RefusesOtherFormsOfTheSame) {
  const std::string bytes = EncodePatchIndex(Sample());
  WireWriter more;
  more.Varint(9, 1);
  EXPECT_EQ(DecodePatchIndex(bytes + more.bytes()).status().message(), "patch has no field 9");
  // Another order, and a field that occurs twice.
  WireWriter first;
  first.Element(1, bytes.substr(2, static_cast<size_t>(bytes[1])));
  EXPECT_EQ(DecodePatchIndex(first.bytes() + bytes).status().message(),
            "the index is not in its one form");
  EXPECT_EQ(DecodePatchIndex(bytes.substr(first.bytes().size()) + first.bytes()).status().message(),
            "the index is not in its one form");
}

TEST(PatchFormatTest, RefusesOtherVersions) {
  std::string header = EncodePatchHeader();
  EXPECT_TRUE(CheckPatchHeader(header).ok());
  header[8] = 2;
  EXPECT_EQ(CheckPatchHeader(header).message(),
            "a patch of version 2 with flags 0: this Galley reads version 1 without");
  header[8] = 1;
  header[12] = 4;
  EXPECT_EQ(CheckPatchHeader(header).message(),
            "a patch of version 1 with flags 4: this Galley reads version 1 without");
  EXPECT_EQ(CheckPatchHeader("GALLEYSG").message(), "it is no Galley patch");
}

TEST(PatchFormatTest, RefusesTrailersThatSayMoreThanThereIs) {
  const auto trailer = [](uint64_t packed, uint64_t size) {
    return DecodePatchTrailer(EncodePatchSizes({packed, size}) + std::string(32, 'h'), 200);
  };
  EXPECT_TRUE(trailer(136, kPatchIndexBytesMax).ok());
  EXPECT_FALSE(trailer(137, 1).ok());
  EXPECT_FALSE(trailer(UINT64_MAX, 1).ok());
  EXPECT_FALSE(trailer(1, kPatchIndexBytesMax + 1).ok());
  EXPECT_FALSE(DecodePatchTrailer(std::string(48, '\0'), 63).ok());
  EXPECT_FALSE(DecodePatchTrailer(std::string(47, '\0'), 200).ok());
}

}  // namespace
}  // namespace galley::director
