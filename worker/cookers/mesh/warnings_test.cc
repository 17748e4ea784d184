#include "worker/cookers/mesh/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace galley::worker::mesh {
namespace {

using ::testing::ElementsAre;

TEST(GroupedWarningsTest, OneStaysAsItIs) {
  EXPECT_THAT(Grouped({"/meshes/0: 3 normals have no length", "chunk 2 is dropped",
                       "/meshes/1: it has no TEXCOORD_0"}),
              ElementsAre("/meshes/0: 3 normals have no length", "chunk 2 is dropped",
                          "/meshes/1: it has no TEXCOORD_0"));
}

TEST(GroupedWarningsTest, EqualOnesAreOneWithANumber) {
  EXPECT_THAT(
      Grouped({"/meshes/0: it has no TEXCOORD_0", "/meshes/1: another",
               "/meshes/2: it has no TEXCOORD_0", "/meshes/3: it has no TEXCOORD_0"}),
      ElementsAre("/meshes/0 and 2 other places: it has no TEXCOORD_0", "/meshes/1: another"));
}

TEST(GroupedWarningsTest, TheirCountsAreAddedUp) {
  EXPECT_THAT(Grouped({"/meshes/0: 3 normals have no length", "/meshes/1: 4 normals have no length",
                       "/meshes/2: normals have no length"}),
              ElementsAre("/meshes/0 and 1 other place: 7 normals have no length",
                          "/meshes/2: normals have no length"));
}

TEST(GroupedWarningsTest, WhatIsAboutNoPlaceIsToldOnce) {
  EXPECT_THAT(Grouped({"extension x is left out", "extension x is left out"}),
              ElementsAre("extension x is left out"));
  EXPECT_THAT(Grouped({}), ElementsAre());
}

}  // namespace
}  // namespace galley::worker::mesh
