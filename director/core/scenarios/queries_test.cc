// Questions about a running cook: pages, cursors, and changes between two pages.
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class QueriesTest : public testing::Test {
 protected:
  Reply Ask(const QueryAsked& ask) {
    shell_.replies.clear();
    shell_.Send(ask);
    EXPECT_EQ(shell_.replies.size(), 1u);
    return shell_.replies.empty() ? Reply() : shell_.replies.back();
  }
  Reply AskAll(uint32_t limit, const QueryAsked::Cursor& cursor = {}) {
    return Ask(
        {.query = 7, .about = QueryAsked::About::kInstigators, .cursor = cursor, .limit = limit});
  }
  Reply AskOf(const std::string& package, uint32_t limit = 100,
              const QueryAsked::Cursor& cursor = {}) {
    return Ask({.package = package, .cursor = cursor, .limit = limit});
  }
  std::vector<std::string> Texts(const Reply& reply) {
    std::vector<std::string> texts;
    for (const Reply::Reason& reason : reply.reasons) {
      texts.push_back(shell_.core().NameOf(reason.package) + "<-" +
                      (reason.why.referencer.valid() ? shell_.core().NameOf(reason.why.referencer)
                                                     : std::string()));
    }
    return texts;
  }

  CoreHarness shell_{R"(
    Town -> Mesh Tree
    Mesh -> Bark
    Tree -> Bark
    Bark
    Late -> Bark
    Poison
  )"};
};

TEST_F(QueriesTest, AllReasonsAreToldInPagesOfTheLimit) {
  shell_.Request({"Town"});
  shell_.Finish();
  const Reply whole = AskAll(100);
  EXPECT_EQ(whole.query, 7u);
  EXPECT_EQ(whole.next, std::nullopt);
  EXPECT_THAT(Texts(whole),
              ElementsAre("Town<-", "Mesh<-Town", "Tree<-Town", "Bark<-Mesh", "Bark<-Tree"));
  std::vector<std::string> pages;
  QueryAsked::Cursor cursor;
  for (int page = 0; page < 10; ++page) {
    const Reply reply = AskAll(2, cursor);
    EXPECT_LE(reply.reasons.size(), 2u);
    for (const std::string& text : Texts(reply)) pages.push_back(text);
    if (!reply.next) break;
    cursor = *reply.next;
  }
  EXPECT_EQ(pages, Texts(whole));
}

TEST_F(QueriesTest, WhatWasThereAtTheFirstPageIsToldThoughTheCookGoesOnBetweenThem) {
  shell_.Request({"Town", "Late"});
  const Reply first = AskAll(1);
  EXPECT_THAT(Texts(first), ElementsAre("Town<-"));
  ASSERT_TRUE(first.next);
  shell_.Finish();  // finds Mesh, Tree, Bark; Late adds a reason to Bark
  const Reply rest = AskAll(100, *first.next);
  EXPECT_EQ(rest.reasons.size(), 6u);
  EXPECT_THAT(Texts(rest), testing::IsSupersetOf({"Late<-", "Bark<-Late", "Mesh<-Town"}));
}

TEST_F(QueriesTest, OneThatGainsReasonsBetweenTwoPagesTellsThem) {
  shell_.Request({"Town", "Late"});
  shell_.Saved("Town");
  shell_.Saved("Mesh");
  const Reply first = AskOf("Bark", 1);
  EXPECT_THAT(Texts(first), ElementsAre("Bark<-Mesh"));
  EXPECT_EQ(first.next, std::nullopt) << "it has no other yet";
  shell_.Saved("Tree");
  const Reply page = AskOf("Bark", 1);
  ASSERT_TRUE(page.next);
  shell_.Saved("Late");
  EXPECT_THAT(Texts(AskOf("Bark", 100, *page.next)), ElementsAre("Bark<-Tree", "Bark<-Late"));
}

// A page looks at no more packages than its limit says.
TEST_F(QueriesTest, PackagesOfEarlierCooksFillPagesThoughNoReasonIsLeft) {
  shell_.Request({"Town", "Poison"});
  shell_.Finish();
  shell_.Request({"Poison"});
  Reply reply = AskAll(2);
  EXPECT_THAT(Texts(reply), ElementsAre("Poison<-"));
  ASSERT_TRUE(reply.next) << "Town and Poison were looked at";
  for (const bool is_last : {false, true}) {
    reply = AskAll(2, *reply.next);
    EXPECT_TRUE(reply.reasons.empty());
    EXPECT_EQ(reply.next == std::nullopt, is_last);
    if (!reply.next) break;
  }
}

TEST_F(QueriesTest, ACursorOfAnotherCookIsRefused) {
  shell_.Request({"Town"});
  shell_.Finish();
  const Reply first = AskAll(1);
  shell_.Request({"Late"});
  shell_.Finish();
  const Reply reply = AskAll(1, *first.next);
  EXPECT_THAT(reply.error, HasSubstr("ask from the beginning"));
  EXPECT_TRUE(reply.reasons.empty());
  EXPECT_THAT(Texts(AskAll(100)), ElementsAre("Bark<-Late", "Late<-"))
      << "packages that are in the cook no more have no reason";
}

TEST_F(QueriesTest, APackageTellsWhereItIsAndWhoHasIt) {
  shell_.Request({"Poison"});
  Reply reply = AskOf("Poison");
  ASSERT_TRUE(reply.package);
  EXPECT_EQ(reply.package->state, "Load");
  EXPECT_EQ(reply.package->urgency, Urgency::kAsked);
  EXPECT_EQ(reply.package->attempt, shell_.JobOf("Poison").start.attempt);
  EXPECT_EQ(reply.package->worker, shell_.JobOf("Poison").worker);
  EXPECT_EQ(reply.package->attempts, 1u);
  shell_.Failed("Poison", WorkerReport::Fault::kCrashed);
  reply = AskOf("Poison");
  EXPECT_EQ(reply.package->own_faults, 1u);
  EXPECT_EQ(reply.package->attempts, 2u);
  shell_.Finish();
  reply = AskOf("Poison");
  EXPECT_EQ(reply.package->state, "Idle, cooked");
  EXPECT_EQ(reply.package->attempt, 0u);
  EXPECT_THAT(AskOf("Unknown").error, HasSubstr("Unknown is in no cook"));
}

TEST_F(QueriesTest, NoPageIsLargerThanTheCoreAllows) {
  CoreHarness small("Town -> A B C D\nA\nB\nC\nD", {.query_limit_max = 2});
  small.Request({"Town"});
  small.Finish();
  small.Send(QueryAsked{.about = QueryAsked::About::kInstigators, .limit = 1'000'000});
  EXPECT_EQ(small.replies.back().reasons.size(), 2u);
  EXPECT_TRUE(small.replies.back().next);
  small.Send(QueryAsked{.about = QueryAsked::About::kInstigators, .limit = 0});
  EXPECT_EQ(small.replies.back().reasons.size(), 1u) << "at least one, or there were no end";
}

// The harness checks the Monitor's counts after every step. This test checks the progress that
// people see.
TEST_F(QueriesTest, ProgressFollowsTheCook) {
  shell_.Request({"Town"});
  EXPECT_EQ(shell_.core().progress().to_cook, 1u);
  EXPECT_EQ(shell_.core().progress().unknown, 0u);
  ASSERT_TRUE(shell_.core().progress().left);
  EXPECT_GT(*shell_.core().progress().left, absl::ZeroDuration());
  shell_.Saved("Town");
  EXPECT_EQ(shell_.core().progress().to_cook, 2u) << "Mesh and Tree";
  shell_.Finish();
  EXPECT_EQ(shell_.core().progress().to_cook, 0u);
  EXPECT_EQ(shell_.core().progress().unknown, 0u);
  EXPECT_EQ(shell_.core().progress().left, absl::ZeroDuration());
}

}  // namespace
}  // namespace galley::director
