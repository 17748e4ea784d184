#include "worker/session/order_inbox.h"

#include <poll.h>

#include <deque>

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

bool IsReadable(const OrderInbox& inbox) {
  pollfd event{inbox.descriptor(), POLLIN, 0};
  return ::poll(&event, 1, 0) == 1;
}

TEST(OrderInboxTest, OrdersWakeTheThreadAndAreTakenInOrder) {
  OrderInbox inbox;
  EXPECT_FALSE(IsReadable(inbox));
  int value = 1;
  inbox.Post([&] { value += 2; });
  inbox.Post([&] { value *= 5; });
  EXPECT_TRUE(IsReadable(inbox));
  inbox.Drain();
  EXPECT_FALSE(IsReadable(inbox));
  std::deque<OrderInbox::Order> orders;
  EXPECT_TRUE(inbox.TakeOrders(orders));
  for (const OrderInbox::Order& order : orders) order();
  EXPECT_EQ(value, 15);
  EXPECT_TRUE(inbox.TakeOrders(orders));
  EXPECT_TRUE(orders.empty());
}

TEST(OrderInboxTest, AClosedInboxWakesTheThread) {
  OrderInbox inbox;
  inbox.Close();
  EXPECT_TRUE(IsReadable(inbox));
  std::deque<OrderInbox::Order> orders;
  EXPECT_FALSE(inbox.TakeOrders(orders));
}

}  // namespace
}  // namespace galley::worker
