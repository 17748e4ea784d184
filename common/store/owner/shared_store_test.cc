// SharedStore: owners that go away while other processes use the store.
#include "common/store/owner/shared_store.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "common/base/testing/await.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_writer.h"
#include "common/store/owner/connect.h"
#include "common/store/owner/store_server.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

// An owner that can die like a killed process: uncommitted Puts are lost.
class MortalOwner {
 public:
  explicit MortalOwner(const std::string& directory)
      : store_(*OpenLocalStore(directory,
                               {.sync = [this](int) { return is_dead_ ? (errno = EIO, -1) : 0; }})),
        server_(*StoreServer::Start(*store_, directory)) {}
  void Die() {
    server_.reset();
    is_dead_ = true;
    store_.reset();
  }
  StoreDirectory& store() { return *store_; }

 private:
  bool is_dead_ = false;
  std::unique_ptr<StoreDirectory> store_;
  std::unique_ptr<StoreServer> server_;
};

class SharedStoreTest : public testing::Test {
 protected:
  std::unique_ptr<StoreDirectory> Open(absl::Duration timeout = absl::Seconds(10)) {
    return *OpenOrConnect(folder_.path(), OpenMode::kMakeIfAbsent, timeout);
  }

  const TemporaryFolder folder_;
};

TEST_F(SharedStoreTest, AnOwnerWhoseFolderIsAnotherOneOpensWhatIsThere) {
  const auto store = Open();
  auto& folder = dynamic_cast<ReplacedFolder&>(*store);
  const std::string first = store->Info()->store_id;
  const Digest old = PutBytes(*store, "old");
  ASSERT_TRUE(store->Commit({}).ok());
  EXPECT_TRUE(folder.CheckFolder().ok());
  ASSERT_TRUE(folder.OpenWhatIsThere().ok());
  EXPECT_EQ(store->Info()->store_id, first);

  // The folder is deleted: another store is made there, and works.
  ASSERT_TRUE(RemoveAll(folder_.path()).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(folder.CheckFolder()));
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Commit({})));
  ASSERT_TRUE(folder.OpenWhatIsThere().ok());
  EXPECT_TRUE(folder.CheckFolder().ok());
  EXPECT_NE(store->Info()->store_id, first);
  EXPECT_THAT(*store->FindMissing(std::vector{old}), ElementsAre(old));
  const Digest fresh = PutBytes(*store, "fresh");
  ASSERT_TRUE(store->Commit({}).ok());
  EXPECT_THAT(*Open()->FindMissing(std::vector{fresh}), IsEmpty());

  // The folder is renamed away, and another folder is put in its place.
  const std::string second = store->Info()->store_id;
  const std::string aside = folder_.path() + ".aside";
  ASSERT_EQ(::rename(folder_.path().c_str(), aside.c_str()), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(folder.CheckFolder()));
  ASSERT_TRUE(folder.OpenWhatIsThere().ok());
  EXPECT_NE(store->Info()->store_id, second);
  ASSERT_TRUE(RemoveAll(folder_.path()).ok());
  ASSERT_EQ(::rename(aside.c_str(), folder_.path().c_str()), 0);
  ASSERT_TRUE(folder.OpenWhatIsThere().ok());
  EXPECT_EQ(store->Info()->store_id, second);
  EXPECT_THAT(*store->FindMissing(std::vector{fresh}), IsEmpty());
}

TEST_F(SharedStoreTest, TheOwnerLooksAtItsDiskForAClient) {
  const auto owner = Open();
  const auto client = Open();
  const Digest large = PutBytes(*client, std::string((1 << 20) + 1, 'x'));
  const Digest small = PutBytes(*client, "small");
  ASSERT_TRUE(client->Commit({}).ok());
  ASSERT_EQ(::unlink(BlobFilePath(folder_.path(), large).c_str()), 0);
  const std::vector<Digest> both = {small, large};
  EXPECT_THAT(*client->FindMissing(both), IsEmpty());
  const uint64_t epoch = client->Info()->loss_epoch;
  EXPECT_THAT(*client->FindLost(both), ElementsAre(large));
  EXPECT_THAT(*owner->FindMissing(both), ElementsAre(large));
  EXPECT_EQ(client->Info()->loss_epoch, epoch + 1);
}

TEST_F(SharedStoreTest, AClientBecomesTheOwnerWhenTheOwnerCloses) {
  auto owner = Open();
  const auto client = Open();
  const Digest digest = PutBytes(*owner, "kept");
  owner.reset();
  EXPECT_EQ(GetBytes(*client, digest), "kept");
  EXPECT_EQ(OpenLocalStore(folder_.path()).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(GetBytes(**ConnectStore(folder_.path()), digest), "kept");
}

TEST_F(SharedStoreTest, OfTwoClientsOneBecomesTheOwnerAndTheOtherItsClient) {
  MortalOwner owner(folder_.path());
  const auto a = Open(), b = Open();
  owner.Die();
  const Digest by_a = PutBytes(*a, "by a"), by_b = PutBytes(*b, "by b");
  EXPECT_EQ(GetBytes(*a, by_b), "by b");
  EXPECT_EQ(GetBytes(*b, by_a), "by a");
}

TEST_F(SharedStoreTest, ARootIsPublishedThoughTheOwnerWasKilledAfterItsFoldersWerePut) {
  MortalOwner owner(folder_.path());
  const auto client = Open();
  const Digest root = PutBytes(*client, "root"), child = PutBytes(*client, "child");
  owner.Die();
  const auto sequence = client->Publish(SampleRoot("windows", root));
  ASSERT_TRUE(sequence.ok()) << sequence.status();
  EXPECT_EQ(*sequence, 1u);
  EXPECT_EQ(GetBytes(*client, child), "child");
}

TEST_F(SharedStoreTest, ALeaseAndTheFoldersThatItNamesSurviveTheOwner) {
  MortalOwner owner(folder_.path());
  const auto client = Open();
  const Digest root = PutBytes(*client, "root");
  const RootLease lease{
      .name = "session", .root = root, .until = absl::FromUnixSeconds(9'000'000'000)};
  ASSERT_TRUE(client->ChangeLeases({.taken = {lease}}).ok());
  owner.Die();
  EXPECT_THAT(*client->Leases(), ElementsAre(lease));
  EXPECT_EQ(GetBytes(*client, root), "root");
}

TEST_F(SharedStoreTest, ALeaseIsTakenThoughTheOwnerWasKilledAfterItsFoldersWerePut) {
  MortalOwner owner(folder_.path());
  const auto client = Open();
  const Digest root = PutBytes(*client, "root");
  owner.Die();
  const RootLease lease{
      .name = "session", .root = root, .until = absl::FromUnixSeconds(9'000'000'000)};
  ASSERT_TRUE(client->ChangeLeases({.taken = {lease}}).ok());
  EXPECT_THAT(*client->Leases(), ElementsAre(lease));
}

TEST_F(SharedStoreTest, ARootWhoseAnswerWasLostIsNotPublishedTwice) {
  MortalOwner owner(folder_.path());
  const auto client = Open();
  const Digest root = PutBytes(*client, "root");
  // The owner dies between the record and its answer.
  ASSERT_TRUE(owner.store().Publish(SampleRoot("windows", root)).ok());
  owner.Die();
  EXPECT_EQ(*client->Publish(SampleRoot("windows", root)), 1u);
  EXPECT_THAT(*client->Roots("project"), SizeIs(1));
}

TEST_F(SharedStoreTest, WhatAWorkerWroteForADeadOwnerIsAdoptedByTheNext) {
  MortalOwner owner(folder_.path());
  const auto client = Open();
  const auto writer = *SegmentWriter::Open(folder_.path(), *client->AllocateSegment());
  const uint64_t unopened = *client->AllocateSegment();
  const auto before = *writer->Append("before");
  owner.Die();
  const PutResult result = SampleResult("a", before.first);
  ASSERT_TRUE(client->Commit({.blobs = {before}, .results = {result}}).ok());
  EXPECT_THAT(ResultOf(*client, result.action_key), Optional(result.result));
  const auto after = *writer->Append("after");
  const auto late = *(*SegmentWriter::Open(folder_.path(), unopened))->Append("late");
  ASSERT_TRUE(client->Commit({.blobs = {after, late}}).ok());
  EXPECT_EQ(GetBytes(*client, late.first), "late");
  EXPECT_GT(*client->AllocateSegment(), unopened);
}

TEST_F(SharedStoreTest, WhatWasCommittedIsNotPutAgain) {
  MortalOwner owner(folder_.path());
  const auto client = Open();
  const Digest saved = PutBytes(*client, "saved");
  ASSERT_TRUE(client->Commit({}).ok());
  owner.Die();
  EXPECT_EQ(GetBytes(*client, saved), "saved");
  EXPECT_EQ(client->Info()->loss_epoch, 0u);
}

TEST_F(SharedStoreTest, MoreThanTheLimitIsCommittedSoThatNothingIsLost) {
  MortalOwner owner(folder_.path());
  const auto client = Open();
  std::vector<Digest> digests;
  for (int i = 0; i < 9; ++i)
    digests.push_back(PutBytes(
        *client, LargeBytes(static_cast<char>('a' + i), SharedStore::kUnsavedBytesMax / 8)));
  owner.Die();
  EXPECT_THAT(*client->FindMissing(digests), IsEmpty());
}

TEST_F(SharedStoreTest, ManyThreadsGoOnAcrossATakeover) {
  MortalOwner owner(folder_.path());
  const auto client = Open();
  std::atomic<int> done = 0;
  std::vector<std::vector<Digest>> digests(3);
  const WaitLimit limit("three threads that write across a takeover");
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < digests.size(); ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 40; ++i, ++done) {
        digests[thread].push_back(
            PutBytes(*client, "thread " + std::to_string(thread) + " blob " + std::to_string(i)));
      }
    });
  }
  while (done < 30) std::this_thread::yield();
  owner.Die();
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(client->Commit({}).ok());
  for (const auto& of_thread : digests) EXPECT_THAT(*client->FindMissing(of_thread), IsEmpty());
}

// An owner holds the lock, but does not answer.
TEST_F(SharedStoreTest, AnOwnerThatHangsIsUnavailableAfterTheTimeout) {
  auto owner = OpenLocalStore(folder_.path());
  auto server = *StoreServer::Start(**owner, folder_.path());
  const auto client = Open(absl::Milliseconds(50));
  server.reset();
  EXPECT_EQ(client->Info().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(OpenOrConnect(folder_.path(), OpenMode::kMakeIfAbsent, absl::Milliseconds(50))
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(SharedStoreTest, AStoreThatMustExistIsNotMade) {
  const std::string absent = folder_.In("absent");
  const absl::Status status = OpenOrConnect(absent, OpenMode::kMustExist).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(absent));
  EXPECT_FALSE(FileExists(absent));
  ASSERT_TRUE(CreateDirectories(absent).ok());
  EXPECT_EQ(OpenOrConnect(absent, OpenMode::kMustExist).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_FALSE(FileExists(JoinPath(absent, "lock")));
  { const auto made = OpenOrConnect(absent); }
  EXPECT_TRUE(OpenOrConnect(absent, OpenMode::kMustExist).ok());
}

}  // namespace
}  // namespace galley::store
