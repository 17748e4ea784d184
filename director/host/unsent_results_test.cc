#include "director/host/unsent_results.h"

#include "common/base/temporary_folder.h"
#include "common/store/testing/memory_store.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class UnsentResultsTest : public testing::Test {
 protected:
  UnsentResultsTest() { result_.outputs = {{.suffix = ".out", .digest = Digest::Of("out")}}; }

  void Record(const std::string& package, const record::Result& of, bool is_unsent = true,
              const std::string& key = "") {
    JournalUpdate one;
    one.package = package;
    one.platform = "pc";
    one.record.action_key = Digest::Of(key.empty() ? package : key);
    one.record.recipe_bytes = "recipe";
    one.record.result = record::EncodeResult(of);
    one.is_unsent = is_unsent;
    ASSERT_TRUE(journal_->Record(std::vector{one}, false).ok());
  }
  void Commit(const std::string& key, const record::Result& result) {
    ASSERT_TRUE(store_.Put(Digest::Of("out"), "out").ok());
    ASSERT_TRUE(store_
                    .Commit({.results = {{.action_key = Digest::Of(key),
                                          .result = record::EncodeResult(result)}}})
                    .ok());
  }
  std::vector<std::string> Found() {
    const auto found = FindUnsent(*journal_, store_);
    EXPECT_TRUE(found.ok()) << found.status();
    std::vector<std::string> names;
    for (const auto& stored : *found) names.push_back(stored->package);
    return names;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make(testing::TempDir(), "galley-unsent-");
  std::unique_ptr<Journal> journal_ = *Journal::Open(folder_.path());
  store::MemoryStore store_;
  record::Result result_;
};

TEST_F(UnsentResultsTest, ComeBackUntilTheyAreSent) {
  Record("/Game/a.txt", result_);
  Record("/Game/b.txt", result_, /*is_unsent=*/false);
  Commit("/Game/a.txt", result_);
  Commit("/Game/b.txt", result_);
  journal_.reset();
  journal_ = *Journal::Open(folder_.path());
  const auto found = *FindUnsent(*journal_, store_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->package, "/Game/a.txt");
  EXPECT_EQ(found[0]->platform_name, "pc");
  EXPECT_EQ(found[0]->action_key, Digest::Of("/Game/a.txt"));
  EXPECT_EQ(found[0]->recipe_bytes, "recipe");
  EXPECT_EQ(found[0]->result.outputs, result_.outputs);
  EXPECT_THAT(Found(), ElementsAre("/Game/a.txt"));
  ForgetSent(*journal_, *found[0]);
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(UnsentResultsTest, WhatWasSentIsNotTheOneThatWasCookedSince) {
  Record("/Game/a.txt", result_);
  Commit("/Game/a.txt", result_);
  const auto first = *FindUnsent(*journal_, store_);
  Record("/Game/a.txt", result_, /*is_unsent=*/true, "another key");
  Commit("another key", result_);
  ForgetSent(*journal_, *first.at(0));
  EXPECT_THAT(Found(), ElementsAre("/Game/a.txt"));
}

TEST_F(UnsentResultsTest, WhatStandsNoMoreIsForgotten) {
  Record("/Game/a.txt", result_);
  Commit("/Game/a.txt", result_);
  Record("/Game/wrong.txt", {.is_verdict = true, .error = "no"});
  Record("/Game/forgotten.txt", result_);
  Record("/Game/replaced.txt", result_);
  Record("/Game/replaced.txt", result_, /*is_unsent=*/false, "another key");
  Record("/Game/clean.txt", result_);
  ASSERT_TRUE(journal_->Forget(std::vector<std::string>{"/Game/clean.txt"}).ok());
  EXPECT_EQ(journal_->Unsent()->size(), 5u);
  EXPECT_THAT(Found(), ElementsAre("/Game/a.txt"));
  EXPECT_EQ(journal_->Unsent()->size(), 1u);
}

}  // namespace
}  // namespace galley::director
