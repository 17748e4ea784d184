#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/cookers/texture/encoder.h"

namespace galley::worker::texture {
namespace {

Level Ramp() {
  Level level{.width = 12, .height = 12, .texels = {}};
  for (uint32_t i = 0; i < 12 * 12; ++i) {
    for (const uint32_t value : {i, 255 - i, i * 3, 255u})
      level.texels.push_back(static_cast<uint8_t>(value));
  }
  return level;
}

EncodeOptions OptionsFor(std::string_view block) {
  return {.format = {.kind = FormatKind::kAstc, .is_srgb = true, .astc_block = block}};
}

TEST(AstcEncoderTest, AContextIsMadeOnceForEqualOptions) {
  AstcEncoder encoder;
  const auto first = encoder.Encode(Ramp(), OptionsFor("6x6"));
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*encoder.Encode(Ramp(), OptionsFor("6x6")), *first);
  EXPECT_EQ(encoder.contexts_made(), 1u);
  EncodeOptions thorough = OptionsFor("6x6");
  thorough.quality = Quality::kThorough;
  ASSERT_TRUE(encoder.Encode(Ramp(), thorough).ok());
  EXPECT_EQ(encoder.contexts_made(), 2u);
  EXPECT_EQ(*encoder.Encode(Ramp(), OptionsFor("6x6")), *first);
  EXPECT_EQ(encoder.contexts_made(), 2u);
}

TEST(AstcEncoderTest, SoManyContextsAreKeptAndBytesDoNotDependOnIt) {
  AstcEncoder encoder;
  for (int round = 0; round < 2; ++round) {
    for (const std::string_view block : kAstcBlocks) {
      const auto found = encoder.Encode(Ramp(), OptionsFor(block));
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(*found, *AstcEncoder().Encode(Ramp(), OptionsFor(block)));
      EXPECT_LE(encoder.contexts_count(), AstcEncoder::kContextsMax);
    }
  }
  EXPECT_GT(encoder.contexts_made(), std::size(kAstcBlocks));
}

TEST(AstcEncoderTest, ATrimFreesAllAndTheNextTextureMakesItsOwn) {
  AstcEncoder encoder;
  const auto before = encoder.Encode(Ramp(), OptionsFor("8x8"));
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(encoder.contexts_count(), 1u);
  encoder.Trim();
  EXPECT_EQ(encoder.contexts_count(), 0u);
  EXPECT_EQ(*encoder.Encode(Ramp(), OptionsFor("8x8")), *before);
  EXPECT_EQ(encoder.contexts_made(), 2u);
}

}  // namespace
}  // namespace galley::worker::texture
