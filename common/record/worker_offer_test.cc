#include "common/record/worker_offer.h"

#include "common/base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(WorkerOfferTest, TextsOfTheCommandLineMakeAnOffer) {
  const auto offer = ParseOffer({"win", "sdk-x", "win"}, {"gpu=2", "licence=0"});
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_THAT(offer->labels, ElementsAre("sdk-x", "win"));
  EXPECT_EQ(offer->resources, (ResourceCounts{{"gpu", 2}, {"licence", 0}}));
  EXPECT_EQ(OfferText(offer->labels, offer->resources),
            "labels sdk-x, win; resources gpu=2, licence=0");
  EXPECT_EQ(OfferText({}, {}), "nothing");
  EXPECT_EQ(OfferText({}, {{"gpu", 1}}), "resources gpu=1");
}

TEST(WorkerOfferTest, WhatIsNoneSaysWhatWasExpected) {
  for (const char* text : {"gpu", "gpu=", "gpu=x", "gpu=-1", "gpu=1x", "gpu=1000001"}) {
    const auto wrong = ParseOffer({}, {text});
    EXPECT_THAT(MessageOf(wrong.status()), HasSubstr("expected NAME=N with N from 0 to 1000000"))
        << text;
  }
  for (const char* text : {"", "=1", "a b=1", "-x=1", "a,b=1"})
    EXPECT_THAT(MessageOf(ParseOffer({}, {text}).status()), HasSubstr("is no name")) << text;
  EXPECT_THAT(MessageOf(ParseOffer({"x\n"}, {}).status()), HasSubstr("\"x\\n\" is no name"));
  EXPECT_THAT(MessageOf(ParseOffer({std::string(65, 'x')}, {}).status()), HasSubstr("at most 64"));
}

TEST(WorkerOfferTest, AJobAsksForOneIfItDoesNotSayHowMany) {
  EXPECT_EQ(*ParseResource("gpu", false), std::pair(std::string("gpu"), 1u));
  EXPECT_EQ(*ParseResource("gpu=4", false), std::pair(std::string("gpu"), 4u));
  EXPECT_THAT(MessageOf(ParseResource("gpu=0", false).status()), HasSubstr("from 1 to"));
}

TEST(WorkerOfferTest, TooMuchIsRefused) {
  WorkerOffer offer;
  for (size_t i = 0; i < WorkerOffer::kNamesMax; ++i)
    offer.labels.push_back("a" + std::to_string(i));
  EXPECT_TRUE(CheckOffer(offer).ok());
  offer.labels.emplace_back("b");
  EXPECT_THAT(MessageOf(CheckOffer(offer)), HasSubstr("65 labels"));
  EXPECT_FALSE(CheckOffer({.labels = {}, .resources = {{"gpu", 1'000'001}}}).ok());
}

TEST(WorkerOfferTest, WhatIsAddedReplacesNothing) {
  WorkerOffer offer{.labels = {"b"}, .resources = {{"gpu", 1}}};
  offer.Add({.labels = {"a", "b"}, .resources = {{"gpu", 4}, {"licence", 2}}});
  EXPECT_EQ(offer, (WorkerOffer{.labels = {"a", "b"}, .resources = {{"gpu", 1}, {"licence", 2}}}));
  EXPECT_TRUE(offer.HasLabels({"a", "b"}) && offer.HasLabels({}));
  EXPECT_FALSE(offer.HasLabels({"a", "c"}));
}

}  // namespace
}  // namespace galley::record
