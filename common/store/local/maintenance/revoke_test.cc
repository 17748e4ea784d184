// Revoke: its effect on the disk, and on results of other programs.
#include <filesystem>

#include "common/record/portable_result.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class RevokeTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    auto store = OpenLocalStore(directory_, {.sync = [](int) { return 0; }});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  record::Result MadeBy(const std::string& worker, const Digest& output) {
    record::Result result;
    result.outputs.push_back({.suffix = ".out", .digest = output});
    result.provenance = {.worker = worker, .machine = "node7", .taken = absl::Now()};
    return result;
  }
  size_t Revoke(const std::string& worker) {
    const auto report = store_->Revoke({.what = {.worker = worker}});
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? report->results.size() : 0;
  }

  TemporaryFolder folder_;
  const std::string directory_ = folder_.In("store");
  std::unique_ptr<StoreDirectory> store_;
};

TEST_F(RevokeTest, WhatIsRevokedStaysSoForTheNextOwner) {
  const Digest bytes = PutBytes(*store_, "one");
  PutResult put = SampleResult("a", bytes);
  put.result = record::EncodeResult(MadeBy("far-2", bytes));
  ASSERT_TRUE(store_->Commit({.results = {put}}).ok());
  EXPECT_EQ(Revoke("far-2"), 1u);
  const uint64_t epoch = EpochOf(*store_);
  Open();
  EXPECT_EQ(ResultOf(*store_, put.action_key), std::nullopt);
  EXPECT_EQ(EpochOf(*store_), epoch);
  ASSERT_THAT(*store_->Revocations(), SizeIs(1));
  EXPECT_EQ(store_->Revocations()->front().worker, "far-2");
}

TEST_F(RevokeTest, AnIndexThatIsMadeAnewForgetsItAsWell) {
  const Digest bytes = PutBytes(*store_, "one");
  PutResult put = SampleResult("a", bytes);
  put.result = record::EncodeResult(MadeBy("far-2", bytes));
  ASSERT_TRUE(store_->Commit({.results = {put}}).ok());
  EXPECT_EQ(Revoke("far-2"), 1u);
  store_.reset();
  ASSERT_TRUE(RemoveAll(JoinPath(directory_, "index")).ok());
  Open();
  EXPECT_EQ(ResultOf(*store_, put.action_key), std::nullopt);
}

TEST_F(RevokeTest, WhatADirectorSentToAServedStoreGoesToo) {
  const Digest bytes = PutBytes(*store_, "one");
  const Digest action = Digest::Of("action");
  const record::PortableResult bad = record::EncodePortable(MadeBy("far-2", bytes));
  for (const auto& [digest, blob] : bad.blobs) ASSERT_TRUE(store_->Put(digest, blob).ok());
  ASSERT_TRUE(CommitActionResult(*store_, "main", action, bad.bytes).ok());
  const Digest other = Digest::Of("of another program");
  ASSERT_TRUE(
      CommitActionResult(*store_, "main", other, SampleActionResult({{"out/a.o", bytes}})).ok());
  const auto report = store_->Revoke({.what = {.worker = "node7"}});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_THAT(report->results, SizeIs(1));
  EXPECT_EQ(report->results[0].key, action);
  EXPECT_FALSE(report->results[0].is_ours);
  EXPECT_EQ(ActionResultOf(*store_, "main", action), std::nullopt);
  EXPECT_NE(ActionResultOf(*store_, "main", other), std::nullopt);
}

TEST_F(RevokeTest, OneThatIsSaidAgainReplacesTheFirst) {
  Revoke("far-2");
  Revoke("far-2");
  Revoke("far-3");
  EXPECT_THAT(*store_->Revocations(), SizeIs(2));
}

TEST_F(RevokeTest, ADamagedListIsPutAsideAndBeginsAnew) {
  Revoke("far-2");
  store_.reset();
  ASSERT_TRUE(WriteFileAtomic(RevokedPath(directory_), "galley-revoked 1\nrevoked - 1 far").ok());
  Open();
  EXPECT_THAT(*store_->Revocations(), IsEmpty());
  EXPECT_TRUE(FileExists(RevokedPath(directory_) + ".broken-1"));
  Revoke("far-2");
  EXPECT_THAT(*store_->Revocations(), SizeIs(1));
}

}  // namespace
}  // namespace galley::store
