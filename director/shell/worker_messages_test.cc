#include "director/shell/worker_messages.h"

#include "common/record/cooker_description.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

TEST(WorkerMessagesTest, AWorkerLacksWhatItDoesNotHaveAndWhatItHasOtherwise) {
  const record::CookerDescription copy{.name = "copy", .identity = "1"},
      tool{.name = "command", .identity = "1"}, sound{.name = "audio", .identity = "1;opus=1.3"},
      other{.name = "audio", .identity = "1;opus=1.4"};
  const std::string ours = record::EncodeDescriptions({sound, tool, copy});
  EXPECT_THAT(*LacksOf(ours, ours), testing::IsEmpty());
  EXPECT_THAT(*LacksOf(ours, record::EncodeDescriptions({sound, copy})), ElementsAre("command"));
  EXPECT_THAT(*LacksOf(ours, record::EncodeDescriptions({other, copy})),
              ElementsAre("audio", "command"));
  EXPECT_THAT(*LacksOf(record::EncodeDescriptions({copy}), ours), testing::IsEmpty())
      << "it may have more";
  EXPECT_FALSE(LacksOf(ours, "{").ok());
}

TEST(WorkerMessagesTest, AWorkerHasAPlainNameAndAsManySlotsAsAMachineMay) {
  v1::Hello hello;
  hello.set_machine("node7.studio");
  hello.set_slots(4);
  for (const char* name : {"far-1", "node7.studio-4711", "a_b:2", "7"})
    EXPECT_TRUE(CheckHello(name, hello).ok()) << name;
  for (const std::string& name : {std::string(), std::string(300, 'n'), std::string("a b"),
                                  std::string("../x"), std::string("a\nworker=b attached"),
                                  std::string("a@b"), std::string("\xff"), std::string("a\0b", 3)})
    EXPECT_TRUE(absl::IsInvalidArgument(CheckHello(name, hello))) << name;
  for (const uint32_t slots : {0u, 1'025u, UINT32_MAX}) {
    hello.set_slots(slots);
    EXPECT_TRUE(absl::IsInvalidArgument(CheckHello("far-1", hello))) << slots;
  }
  hello.set_slots(1'024);
  hello.set_machine("node7\n");
  EXPECT_TRUE(absl::IsInvalidArgument(CheckHello("far-1", hello)));
}

TEST(WorkerMessagesTest, AHelloBringsAllThatTheWorkerIsAndHas) {
  v1::FromWorker message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_slots(4);
  hello.set_memory_bytes(5);
  hello.set_session(6);
  hello.set_persisted(7);
  for (const uint64_t attempt : {8, 9, 10}) message.add_in_hand(attempt);
  for (const uint64_t attempt : {9, 10}) message.add_begun(attempt);
  message.add_uploading(9);
  message.mutable_pending()->add_attempts(10);
  message.mutable_pending()->set_is_held(true);
  const WorkerAttached attached = AttachedOf(WorkerId(3), message);
  EXPECT_EQ(attached.worker, WorkerId(3));
  EXPECT_EQ(attached.slots, 4u);
  EXPECT_EQ(attached.memory_bytes, 5u);
  EXPECT_EQ(attached.session, 6u);
  EXPECT_EQ(attached.persisted, 7u);
  EXPECT_THAT(attached.in_hand, ElementsAre(8, 9, 10));
  EXPECT_THAT(attached.begun, ElementsAre(9, 10));
  EXPECT_THAT(attached.uploading, ElementsAre(9));
  EXPECT_THAT(UploadsOf(WorkerId(3), message).attempts, ElementsAre(9));
  EXPECT_THAT(attached.pending, ElementsAre(10));
  EXPECT_TRUE(attached.is_held);
  message.mutable_pending()->set_is_held(false);
  EXPECT_FALSE(AttachedOf(WorkerId(3), message).is_held);
}

TEST(WorkerMessagesTest, WhatItsMachineHasIsCheckedAsWhatCameFromOutside) {
  v1::FromWorker message;
  v1::Hello& hello = *message.mutable_hello();
  for (const char* label : {"win", "sdk-x", "win"}) hello.add_labels(label);
  v1::Resource& gpu = *hello.add_resources();
  gpu.set_name("gpu");
  gpu.set_count(2);
  const record::WorkerOffer offer{.labels = {"sdk-x", "win"}, .resources = {{"gpu", 2}}};
  EXPECT_EQ(*OfferOf(hello), offer);
  EXPECT_EQ(AttachedOf(WorkerId(3), message).offer, offer);
  gpu.set_count(1'000'001);
  EXPECT_FALSE(OfferOf(hello).ok());
  gpu.set_count(1);
  hello.add_labels("a b");
  EXPECT_FALSE(OfferOf(hello).ok());
  hello.clear_labels();
  for (int i = 0; i < 65; ++i) hello.add_labels("same");
  EXPECT_FALSE(OfferOf(hello).ok()) << "more than anybody looks at";
}

TEST(WorkerMessagesTest, WhatIsPendingIsAll) {
  v1::FromWorker message;
  message.mutable_pending();
  EXPECT_THAT(PendingOf(WorkerId(3), message).attempts, ElementsAre());
  message.mutable_pending()->add_attempts(1);
  EXPECT_THAT(PendingOf(WorkerId(3), message).attempts, ElementsAre(1));
}

TEST(WorkerMessagesTest, AWorkerThatIsHeldSaysWhatHasBegun) {
  v1::FromWorker message;
  message.mutable_pending()->add_begun(2);
  EXPECT_FALSE(PendingOf(WorkerId(3), message).is_held);
  message.mutable_pending()->set_is_held(true);
  EXPECT_TRUE(PendingOf(WorkerId(3), message).is_held);
  EXPECT_THAT(PendingOf(WorkerId(3), message).begun, ElementsAre(2));
}

TEST(WorkerMessagesTest, APartOfAJobIsItsPlatforms) {
  v1::JobPart part;
  FillPart({.attempt = 7, .platforms = 0x8000'0005}, part);
  EXPECT_EQ(part.attempt(), 7u);
  EXPECT_THAT(part.platforms(), ElementsAre(0, 2, 31));
}

}  // namespace
}  // namespace galley::director
