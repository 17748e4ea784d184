#include "director/shell/glob_filter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

TEST(GlobFilterTest, ACookThatAsksForNothingHasNone) {
  EXPECT_EQ(GlobFilter::Make({}, {}).value(), nullptr);
}

TEST(GlobFilterTest, PackagesThatAGlobMatchesAreNever) {
  const GlobFilterPtr filter = GlobFilter::Make({"/Game/dev/**", "/Game/*.txt"}, {}).value();
  EXPECT_TRUE(filter->has_never());
  EXPECT_TRUE(filter->IsNever("/Game/dev/a.png"));
  EXPECT_TRUE(filter->IsNever("/Game/a.txt"));
  EXPECT_FALSE(filter->IsNever("/Game/a.png"));
  EXPECT_EQ(filter->cultures(), std::nullopt) << "those of the project";
}

TEST(GlobFilterTest, CulturesReplaceThoseOfTheProject) {
  const GlobFilterPtr filter = GlobFilter::Make({}, {"de", "fr"}).value();
  EXPECT_FALSE(filter->has_never());
  EXPECT_FALSE(filter->IsNever("/Game/a.txt"));
  ASSERT_TRUE(filter->cultures().has_value());
  EXPECT_THAT(*filter->cultures(), ElementsAre("de", "fr"));
}

TEST(GlobFilterTest, AMalformedGlobIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(GlobFilter::Make({"/Game/[a"}, {}).status()));
}

}  // namespace
}  // namespace galley::director
