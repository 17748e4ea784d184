#include "common/record/always_looks.h"

#include "common/record/cooker_description.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::record {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

CookerDescription TextureWithLooks() {
  return {.name = "texture",
          .identity = "1",
          .looks = {{.kind = ObservationKind::kPlatform,
                     .subject = "texture",
                     .extensions = {"png"},
                     .unless_setting = "format"}}};
}

std::string Missing(const CookerDescription& cooker, const std::vector<Observed>& observed,
                    bool is_verdict = false) {
  return MissingLook(AlwaysLooksOf(cooker, "png", "{}"), observed, is_verdict);
}

TEST(AlwaysLooksTest, OneThatWasNotMadeIsNamed) {
  EXPECT_EQ(Missing(TextureWithLooks(), {}), "platform(texture)");
  EXPECT_EQ(Missing(TextureWithLooks(), {{{ObservationKind::kPlatform, "shader", ""}, "=x"},
                                         {{ObservationKind::kFile, "texture", ""}, "absent"}}),
            "platform(texture)");
  EXPECT_EQ(Missing(TextureWithLooks(), {{{ObservationKind::kPlatform, "texture", ""}, "unset"}}),
            "");
}

TEST(AlwaysLooksTest, SomeHoldForSomeSourcesAndSettingsOnly) {
  EXPECT_THAT(AlwaysLooksOf(TextureWithLooks(), "png", R"({"format":null,"mipmaps":true})"),
              SizeIs(1));
  EXPECT_THAT(AlwaysLooksOf(TextureWithLooks(), "png", R"({"format":"bc7"})"), IsEmpty());
  EXPECT_THAT(AlwaysLooksOf(TextureWithLooks(), "hdr", "{}"), IsEmpty());
}

TEST(AlwaysLooksTest, AnySubjectOfAKindMayBeEnough) {
  const CookerDescription command = {
      .name = "command", .identity = "1", .looks = {{.kind = ObservationKind::kTool}}};
  EXPECT_EQ(Missing(command, {}), "tool(...)");
  EXPECT_EQ(Missing(command, {{{ObservationKind::kTool, "/usr/bin/sh", ""}, "absent"}}), "");
}

TEST(AlwaysLooksTest, AVerdictMayComeBeforeALookThatDoesNotSayOtherwise) {
  CookerDescription cooker = TextureWithLooks();
  EXPECT_EQ(Missing(cooker, {}, true), "");
  cooker.looks[0].in_verdicts = true;
  EXPECT_EQ(Missing(cooker, {}, true), "platform(texture)");
}

TEST(AlwaysLooksTest, DescriptionsTellThem) {
  CookerDescription cooker = TextureWithLooks();
  cooker.looks.push_back({.kind = ObservationKind::kTool, .in_verdicts = true});
  const auto decoded = DecodeDescriptions(EncodeDescriptions({cooker}));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(EncodeDescriptions(*decoded), EncodeDescriptions({cooker}));
  EXPECT_EQ(AlwaysLooksOf(decoded->front(), "png", "{}"), AlwaysLooksOf(cooker, "png", "{}"));
  EXPECT_THAT(AlwaysLooksOf(decoded->front(), "png", "{}"), SizeIs(2));
}

TEST(AlwaysLooksTest, AKindThatIsNoneIsRefused) {
  std::string text = EncodeDescriptions({TextureWithLooks()});
  text.replace(text.find("\"platform\""), 10, "\"moon\"");
  EXPECT_FALSE(DecodeDescriptions(text).ok());
}

}  // namespace
}  // namespace galley::record
