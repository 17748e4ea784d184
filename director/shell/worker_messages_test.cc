#include "director/shell/worker_messages.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

TEST(WorkerMessagesTest, AHelloBringsAllThatTheWorkerIsAndHas) {
  v1::FromWorker message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_slots(4);
  hello.set_memory_bytes(5);
  hello.set_pid(6);
  hello.set_persisted(7);
  for (const uint64_t attempt : {8, 9, 10}) message.add_in_hand(attempt);
  for (const uint64_t attempt : {9, 10}) message.add_begun(attempt);
  message.mutable_pending()->add_attempts(10);
  const WorkerAttached attached = AttachedOf(WorkerId(3), message);
  EXPECT_EQ(attached.worker, WorkerId(3));
  EXPECT_EQ(attached.slots, 4u);
  EXPECT_EQ(attached.memory_bytes, 5u);
  EXPECT_EQ(attached.session, 6u);
  EXPECT_EQ(attached.persisted, 7u);
  EXPECT_THAT(attached.in_hand, ElementsAre(8, 9, 10));
  EXPECT_THAT(attached.begun, ElementsAre(9, 10));
  EXPECT_THAT(attached.pending, ElementsAre(10));
}

TEST(WorkerMessagesTest, WhatIsPendingIsAll) {
  v1::FromWorker message;
  message.mutable_pending();
  EXPECT_THAT(PendingOf(WorkerId(3), message).attempts, ElementsAre());
  message.mutable_pending()->add_attempts(1);
  EXPECT_THAT(PendingOf(WorkerId(3), message).attempts, ElementsAre(1));
}

}  // namespace
}  // namespace galley::director
