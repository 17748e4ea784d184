#include "director/shell/message_room.h"

#include <atomic>
#include <thread>
#include <vector>

#include "common/base/testing/await.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// Returns the calls of Leave that a loop owes when it takes nothing meanwhile.
std::vector<MessageRoom::Entered> Fill(MessageRoom& room, uint64_t messages, uint64_t bytes) {
  std::vector<MessageRoom::Entered> left;
  for (uint64_t i = 0; i < messages; ++i) {
    const auto entered = room.Enter("a", bytes);
    EXPECT_TRUE(entered.is_open);
    if (entered.must_leave()) left.push_back(entered);
  }
  return left;
}

TEST(MessageRoomTest, AFloodWaitsUntilTheLoopHasTakenSomeOfIt) {
  MessageRoom room;
  const auto left = Fill(room, MessageRoom::kMessagesMax, 10);
  EXPECT_EQ(left.size(), MessageRoom::kMessagesMax / MessageRoom::kTogether);
  EXPECT_TRUE(room.Enter("b", 10).is_open) << "others have room";
  std::atomic<bool> has_entered = false;
  std::thread stream([&] {
    EXPECT_TRUE(room.Enter("a", 10).is_open);
    has_entered = true;
  });
  EXPECT_FALSE(has_entered);
  room.Leave("a", left[0]);
  const WaitLimit limit("a message of the flood that has room again");
  stream.join();
}

TEST(MessageRoomTest, LargeMessagesAreFewer) {
  MessageRoom room;
  const auto left = Fill(room, 4, MessageRoom::kBytesMax / 4);
  ASSERT_EQ(left.size(), 4u) << "each is told at once";
  std::thread stream([&] { EXPECT_TRUE(room.Enter("a", 1).is_open); });
  room.Leave("a", left[0]);
  const WaitLimit limit("a message that has room again behind large ones");
  stream.join();
}

TEST(MessageRoomTest, NobodyWaitsWhenItIsClosed) {
  MessageRoom room;
  Fill(room, MessageRoom::kMessagesMax, 10);
  std::thread stream([&] { EXPECT_FALSE(room.Enter("a", 10).is_open); });
  room.Close();
  const WaitLimit limit("a message that waits when the room is closed");
  stream.join();
  EXPECT_FALSE(room.Enter("b", 10).is_open);
}

}  // namespace
}  // namespace galley::director
