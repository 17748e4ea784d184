#include "director/cli/package_rows.h"

#include "gmock/gmock.h"

namespace galley::cli {
namespace {

using testing::ElementsAre;

PackageRow Row(const std::string& package, uint64_t bytes, const std::string& outcome = "cooked",
               size_t warnings = 0) {
  return {.package = package,
          .rule = "galley.toml:1",
          .cooker = package.ends_with(".png") ? "texture" : "data",
          .generator = "",
          .is_never = false,
          .error = "",
          .platforms = {{"deck", {.outcome = outcome, .bytes = bytes, .warnings = 0}},
                        {"windows", {.outcome = outcome, .bytes = bytes, .warnings = warnings}}}};
}

std::vector<std::string> Names(const std::vector<PackageRow>& rows) {
  std::vector<std::string> names;
  for (const PackageRow& row : rows) names.push_back(row.package);
  return names;
}

const std::vector<PackageRow> kRows = {Row("/a.png", 10), Row("/b.png", 30),
                                       Row("/c.json", 0, "failed"), Row("/d.json", 20, "cooked", 2),
                                       Row("/e.json", 20)};

TEST(PackageRowsTest, AllAreShownByNameUnlessSomeAreAskedFor) {
  EXPECT_THAT(Names(ChosenRows(kRows, {})),
              ElementsAre("/a.png", "/b.png", "/c.json", "/d.json", "/e.json"));
  EXPECT_THAT(Names(ChosenRows(kRows, {.is_failed = true})), ElementsAre("/c.json"));
  EXPECT_THAT(Names(ChosenRows(kRows, {.is_warned = true})), ElementsAre("/d.json"));
  EXPECT_THAT(Names(ChosenRows(kRows, {.is_failed = true, .is_warned = true})),
              ElementsAre("/c.json", "/d.json"));
}

TEST(PackageRowsTest, AFileThatCannotBeUsedHasFailed) {
  PackageRow row = Row("/x.png", 0, "");
  EXPECT_FALSE(row.has_failed());
  row.error = "a pipe";
  EXPECT_TRUE(row.has_failed());
}

TEST(PackageRowsTest, BySizeTheLargestIsFirstAndEqualOnesAreByName) {
  EXPECT_THAT(Names(ChosenRows(kRows, {.sort = "size"})),
              ElementsAre("/b.png", "/d.json", "/e.json", "/a.png", "/c.json"));
}

TEST(PackageRowsTest, TotalsAreByCookerAndPlatform) {
  const std::vector<CookerTotal> totals = TotalsOf(kRows);
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].cooker, "data");
  EXPECT_EQ(totals[0].packages, 3u);
  EXPECT_EQ(totals[0].bytes.at("windows"), 40u);
  EXPECT_EQ(totals[1].cooker, "texture");
  EXPECT_EQ(totals[1].sum(), 80u);
}

}  // namespace
}  // namespace galley::cli
