#include "director/serve/device_face/content_type.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(ContentTypeTest, TheEndOfTheNameDecides) {
  EXPECT_EQ(ContentTypeOf("Game/a.png.ktx2"), (ContentType{"image/ktx2", false}));
  EXPECT_EQ(ContentTypeOf("Game/a.glb.d/lod1.GLB"), (ContentType{"model/gltf-binary", true}));
  EXPECT_EQ(ContentTypeOf(".reflect.cbor"), (ContentType{"application/cbor", true}));
  EXPECT_EQ(ContentTypeOf("a.opus"), (ContentType{"audio/ogg; codecs=opus", false}));
}

TEST(ContentTypeTest, OtherNamesAreBytes) {
  for (const char* path : {"", "a", "Game.png/a", "a.", "a.unknown", ".d/lod9"})
    EXPECT_EQ(ContentTypeOf(path), (ContentType{"application/octet-stream", false})) << path;
}

}  // namespace
}  // namespace galley::director
