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

TEST(ConversationTest, AMessageThatNeverArrivesBreaksIt) {
  Conversation conversation;
  EXPECT_EQ(conversation.Send(kStart), 1u);
  EXPECT_EQ(conversation.Send(kStart), 2u);
  EXPECT_EQ(conversation.Receive(1, 1, kStart + Conversation::kPatience), Heard::kNext);
  EXPECT_EQ(conversation.Receive(2, 1, kStart + 2 * Conversation::kPatience), Heard::kBroken);
}

TEST(ConversationTest, AnAcknowledgedMessageIsForgotten) {
  Conversation conversation;
  conversation.Send(kStart);
  EXPECT_EQ(conversation.Receive(1, 1, kStart + Conversation::kPatience), Heard::kNext);
  EXPECT_EQ(conversation.Receive(2, 1, kStart + 9 * Conversation::kPatience), Heard::kNext);
}

}  // namespace
}  // namespace galley::wire
