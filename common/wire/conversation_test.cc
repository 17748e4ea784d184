#include "common/wire/conversation.h"

#include "gtest/gtest.h"

namespace galley::wire {
namespace {

using Heard = Conversation::Heard;
constexpr absl::Time kStart = absl::UnixEpoch();

TEST(ConversationTest, MessagesInOrderAreTaken) {
  Conversation conversation;
  EXPECT_EQ(conversation.Receive(1, 0, kStart), Heard::kNext);
  EXPECT_EQ(conversation.Receive(2, 0, kStart), Heard::kNext);
  EXPECT_EQ(conversation.heard(), 2u);
}

TEST(ConversationTest, WhatComesTwiceIsDropped) {
  Conversation conversation;
  conversation.Receive(1, 0, kStart);
  EXPECT_EQ(conversation.Receive(1, 0, kStart), Heard::kDoubled);
  EXPECT_EQ(conversation.Receive(0, 0, kStart), Heard::kDoubled);
}

TEST(ConversationTest, AGapBreaksIt) {
  Conversation conversation;
  conversation.Receive(1, 0, kStart);
  EXPECT_EQ(conversation.Receive(3, 0, kStart), Heard::kBroken);
}

TEST(ConversationTest, WhatWasNeverSentCannotBeAcknowledged) {
  Conversation conversation;
  EXPECT_EQ(conversation.Receive(1, 1, kStart), Heard::kBroken);
}

// Until the conversation breaks, the other side says something each second, and acknowledges
// `acknowledged`.
absl::Duration Listen(Conversation& conversation, uint64_t first, uint64_t acknowledged,
                      absl::Time from, absl::Duration most) {
  for (int second = 1; absl::Seconds(second) <= most; ++second) {
    if (conversation.Receive(first++, acknowledged, from + absl::Seconds(second)) == Heard::kBroken)
      return absl::Seconds(second);
  }
  return absl::InfiniteDuration();
}

TEST(ConversationTest, AMessageThatNeverArrivesBreaksIt) {
  Conversation conversation;
  EXPECT_EQ(conversation.Send(kStart), 1u);
  EXPECT_EQ(conversation.Send(kStart), 2u);
  EXPECT_EQ(Listen(conversation, 1, 1, kStart, absl::Minutes(1)),
            Conversation::kPatience + absl::Seconds(1));
}

TEST(ConversationTest, AnAcknowledgedMessageIsForgotten) {
  Conversation conversation;
  conversation.Send(kStart);
  EXPECT_EQ(Listen(conversation, 1, 1, kStart, absl::Minutes(1)), absl::InfiniteDuration());
}

// This process was stopped for an hour; then it reads what the other side said in the first
// seconds.
TEST(ConversationTest, OurOwnPauseIsNotTheOthersSilence) {
  Conversation conversation;
  conversation.Receive(1, 0, kStart);
  conversation.Send(kStart);
  const absl::Time awake = kStart + absl::Hours(1);
  EXPECT_EQ(conversation.Receive(2, 0, awake), Heard::kNext);
  EXPECT_EQ(conversation.Receive(3, 1, awake), Heard::kNext);
  conversation.Send(awake);
  EXPECT_EQ(Listen(conversation, 4, 1, awake, absl::Minutes(1)),
            Conversation::kPatience + absl::Seconds(1));
}

}  // namespace
}  // namespace galley::wire
