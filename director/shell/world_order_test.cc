#include "director/shell/world_order.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(WorldOrderTest, AnOlderWorldComesTooLate) {
  WorldOrder order;
  EXPECT_TRUE(order.Enter("pc", 2));
  EXPECT_FALSE(order.Enter("pc", 1));
  EXPECT_TRUE(order.Enter("pc", 2)) << "roots that were built again";
  EXPECT_TRUE(order.Enter("pc", 3));
  EXPECT_FALSE(order.Enter("pc", 2));
}

TEST(WorldOrderTest, AQuestionNotesNothing) {
  WorldOrder order;
  EXPECT_FALSE(order.IsPast("pc", 2));
  EXPECT_TRUE(order.Enter("pc", 1));
  EXPECT_FALSE(order.IsPast("pc", 1));
  EXPECT_TRUE(order.Enter("pc", 2));
  EXPECT_TRUE(order.IsPast("pc", 1));
}

TEST(WorldOrderTest, EachPlaceHasAnOrderOfItsOwn) {
  WorldOrder order;
  EXPECT_TRUE(order.Enter("pc", 2));
  EXPECT_TRUE(order.Enter("phone", 1));
}

TEST(WorldOrderTest, WorldsOfAnotherNumberingAreCompared) {
  WorldOrder order;
  EXPECT_TRUE(order.Enter("pc", 2));
  order.Clear();
  EXPECT_TRUE(order.Enter("pc", 1));
}

}  // namespace
}  // namespace galley::director
