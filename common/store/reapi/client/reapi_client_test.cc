#include "common/store/reapi/client/reapi_client.h"

#include <algorithm>
#include <future>
#include <random>
#include <thread>

#include "common/base/status_macros.h"
#include "common/base/testing/await.h"
#include "common/base/testing/manual_clock.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"
#include "tests/testing/fake_reapi.h"

namespace galley::store {
namespace {

using galley::testing::FakeReapi;
using galley::testing::FakeReapiManners;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// Bytes that zstd does not make smaller, and that differ from blob to blob.
std::string RandomBytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

class ReapiClientTest : public ::testing::Test {
 protected:
  ReapiClientTest() { Connect({}); }

  void Connect(ReapiClientOptions options) {
    options.url = *ParseRemoteUrl(fake_.url());
    options.instance = "team/tower";
    options.retry.first = absl::Milliseconds(1);
    options.clock = clock_;
    options.seed = 1;
    client_ = CreateReapiClient(std::move(options));
  }

  // Puts the bytes on the server.
  Digest There(std::string_view bytes) {
    const Digest digest = Digest::Of(bytes);
    fake_.Put(digest, bytes);
    return digest;
  }
  std::vector<Digest> There(size_t count, size_t size) {
    std::vector<Digest> digests;
    for (size_t i = 0; i < count; ++i) digests.push_back(There(RandomBytes(size, i)));
    return digests;
  }
  std::vector<Digest> Here(size_t count, size_t size) {
    std::vector<Digest> digests;
    for (size_t i = 0; i < count; ++i) digests.push_back(PutBytes(local_, RandomBytes(size, i)));
    return digests;
  }
  std::vector<Digest> LackingAfterFetch(const std::vector<Digest>& digests) {
    const auto lacking = client_->Fetch(digests, local_, limits_);
    EXPECT_TRUE(lacking.ok()) << lacking.status();
    return lacking.ok() ? *lacking : std::vector<Digest>();
  }
  // Expects that this machine has exactly these blobs.
  void ExpectHere(const std::vector<Digest>& digests) {
    for (const Digest& digest : digests)
      EXPECT_EQ(Digest::Of(GetBytes(local_, digest)), digest) << digest.ToString();
    EXPECT_EQ(local_.Stats()->blobs, digests.size());
  }
  void ExpectThere(const std::vector<Digest>& digests) {
    for (const Digest& digest : digests) {
      const auto bytes = fake_.Get(digest);
      ASSERT_TRUE(bytes) << digest.ToString();
      EXPECT_EQ(Digest::Of(*bytes), digest);
    }
  }

  FakeReapi fake_;
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<RemoteCache> client_;
  MemoryStore local_;
  RemoteLimits limits_;
};

// ------------------------------------------------------------------ as a BlobStore

TEST_F(ReapiClientTest, IsABlobStore) {
  for (const size_t size : {size_t{1}, size_t{5000}, size_t{3'000'000}}) {
    const std::string bytes = RandomBytes(size, size);
    const Digest digest = Digest::Of(bytes);
    EXPECT_EQ(client_->Get(digest).status().code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(*client_->FindMissing(std::span(&digest, 1)), ElementsAre(digest));
    EXPECT_TRUE(client_->Put(digest, bytes).ok());
    EXPECT_THAT(*client_->FindMissing(std::span(&digest, 1)), IsEmpty());
    EXPECT_EQ(GetBytes(*client_, digest), bytes);
    EXPECT_EQ(client_->Put(digest, "other").code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(ReapiClientTest, TheEmptyBlobIsNeverAskedFor) {
  const std::vector<Digest> empty(1);
  EXPECT_THAT(*client_->FindMissing(empty), IsEmpty());
  EXPECT_EQ(GetBytes(*client_, Digest()), "");
  EXPECT_TRUE(client_->Put(Digest(), "").ok());
  EXPECT_THAT(LackingAfterFetch(empty), IsEmpty());
  for (const char* method : {"FindMissingBlobs", "Read", "BatchReadBlobs", "Write"})
    EXPECT_EQ(fake_.Calls(method), 0u) << method;
}

TEST_F(ReapiClientTest, AskingForManyIsSeveralQuestions) {
  std::vector<Digest> digests;
  for (int i = 0; i < 25'000; ++i) digests.push_back(Digest::Of(std::to_string(i)));
  There("7");
  auto expected = digests;
  std::erase(expected, Digest::Of("7"));
  EXPECT_EQ(*client_->FindMissing(digests), expected) << "in the order given";
  EXPECT_EQ(fake_.Calls("FindMissingBlobs"), 2u);
}

// ------------------------------------------------------------------ batches and streams

TEST_F(ReapiClientTest, SmallBlobsComeAndGoInBatches) {
  const std::vector<Digest> there = There(1000, 4096);
  EXPECT_THAT(LackingAfterFetch(there), IsEmpty());
  ExpectHere(there);
  EXPECT_EQ(fake_.Calls("BatchReadBlobs"), 2u) << "4 MB, of which 3.8 go into one";
  EXPECT_EQ(fake_.Calls("Read"), 0u);

  fake_.Empty();
  EXPECT_TRUE(client_->Send(there, local_, limits_).ok());
  ExpectThere(there);
  EXPECT_EQ(fake_.Calls("BatchUpdateBlobs"), 2u);
  EXPECT_EQ(fake_.Calls("Write"), 0u);
  EXPECT_EQ(client_->State().blobs_fetched, 1000u);
  EXPECT_EQ(client_->State().bytes_sent, 4096'000u);
}

TEST_F(ReapiClientTest, TheServersBatchLimitIsKept) {
  fake_.Set({.batch_bytes_max = 64 << 10});
  Connect({});
  std::vector<Digest> there = There(100, 4096);
  there.push_back(There(RandomBytes(100'000, 1000)));
  EXPECT_THAT(LackingAfterFetch(there), IsEmpty());
  ExpectHere(there);
  EXPECT_EQ(fake_.Calls("BatchReadBlobs"), 7u) << "of 15 each";
  EXPECT_EQ(fake_.Calls("Read"), 1u) << "what fits into no batch";
  fake_.Empty();
  EXPECT_TRUE(client_->Send(there, local_, limits_).ok());
  ExpectThere(there);
}

TEST_F(ReapiClientTest, WhatABatchDoesNotTakeGoesAlone) {
  fake_.Set({.fails_batches = true});
  const std::vector<Digest> there = There(5, 1000);
  EXPECT_THAT(LackingAfterFetch(there), IsEmpty());
  ExpectHere(there);
  fake_.Empty();
  EXPECT_TRUE(client_->Send(there, local_, limits_).ok());
  ExpectThere(there);
}

TEST_F(ReapiClientTest, WhatIsAbsentIsSaidAndTheRestComes) {
  std::vector<Digest> wanted = There(3, 100);
  const std::vector<Digest> there = wanted;
  const std::vector<Digest> absent = {Digest::Of("absent"),
                                      Digest::Of(std::string(2'000'000, 'x'))};
  wanted.insert(wanted.end(), absent.begin(), absent.end());
  EXPECT_THAT(LackingAfterFetch(wanted), UnorderedElementsAreArray(absent));
  ExpectHere(there);
}

TEST_F(ReapiClientTest, ASizeThatCannotBeIsNotAskedFor) {
  const std::vector<Digest> lie = {*Digest::FromHash(Digest::Of("x").hash(), 1ull << 50)};
  EXPECT_EQ(LackingAfterFetch(lie), lie);
  EXPECT_EQ(fake_.Calls("Read"), 0u);
}

TEST_F(ReapiClientTest, CompressedOrNotItIsTheSame) {
  const std::string text(3'000'000, 'a');
  for (const FakeReapiManners& manners : {FakeReapiManners{}, FakeReapiManners{.has_zstd = false},
                                          FakeReapiManners{.omits_batch_status = true},
                                          FakeReapiManners{.has_no_zstd_streams = true}}) {
    fake_.Set(manners);
    fake_.Empty();
    Connect({});
    MemoryStore from, into;
    const std::vector<Digest> digests = {PutBytes(from, text), PutBytes(from, "small"),
                                         PutBytes(from, text.substr(0, 10'000))};
    EXPECT_TRUE(client_->Send(digests, from, limits_).ok());
    ExpectThere(digests);
    fake_.ForgetCalls();
    EXPECT_THAT(*client_->Fetch(digests, into, limits_), IsEmpty());
    EXPECT_EQ(fake_.Calls("Read"), 1u) << "the large one";
    for (const Digest& digest : digests) EXPECT_EQ(Digest::Of(GetBytes(into, digest)), digest);
  }
}

// ------------------------------------------------------------------ wrong bytes

class WrongBytesTest : public ReapiClientTest,
                       public ::testing::WithParamInterface<std::tuple<int, bool, bool>> {};

TEST_P(WrongBytesTest, NeverArriveAndAreNotAskedForAgain) {
  const auto [lie, has_zstd, is_large] = GetParam();
  const FakeReapiManners manners{
      .has_zstd = has_zstd, .corrupts = lie == 0, .shortens = lie == 1, .lengthens = lie == 2};
  fake_.Set(manners);
  const std::vector<Digest> there = There(1, is_large ? 2'000'000 : 2000);
  EXPECT_EQ(LackingAfterFetch(there), there);
  ExpectHere({});
  EXPECT_EQ(client_->State().blobs_wrong, 1u);
  EXPECT_FALSE(client_->State().is_down) << "it answers; what it answers is no use";
  fake_.ForgetCalls();
  fake_.Set({});
  EXPECT_EQ(LackingAfterFetch(there), there);
  EXPECT_EQ(fake_.Calls("Read") + fake_.Calls("BatchReadBlobs"), 0u);
  EXPECT_EQ(client_->Get(there[0]).status().code(), absl::StatusCode::kDataLoss);
}

INSTANTIATE_TEST_SUITE_P(Lies, WrongBytesTest,
                         ::testing::Combine(::testing::Range(0, 3), ::testing::Bool(),
                                            ::testing::Bool()));

TEST_F(ReapiClientTest, AWrongBlobIsReadOnceMoreAndByAnotherCall) {
  const std::vector<Digest> there = There(20, 2000);
  fake_.Rot(1);
  EXPECT_EQ(LackingAfterFetch(there).size(), 20u);
  EXPECT_EQ(fake_.Calls("BatchReadBlobs"), 1u);
  EXPECT_EQ(fake_.Calls("Read"), 20u);
  EXPECT_EQ(client_->State().given_up, RemoteState::GivenUp::kNo) << "too few to say";
}

TEST_F(ReapiClientTest, AStoreOfWrongBlobsIsNotReadFromAnyMore) {
  const std::vector<Digest> there = There(1000, 2000);
  fake_.Rot(1);
  limits_.is_waited_for = true;
  EXPECT_EQ(LackingAfterFetch(there).size(), 1000u);
  const RemoteState state = client_->State();
  EXPECT_EQ(state.given_up, RemoteState::GivenUp::kWrongBlobs);
  EXPECT_FALSE(state.is_down);
  EXPECT_LE(state.blobs_wrong, 40u);
  EXPECT_LE(fake_.Calls("Read"), 40u);
  fake_.ForgetCalls();
  const std::vector<Digest> more = There(1, 10);
  EXPECT_EQ(LackingAfterFetch(more), more);
  EXPECT_THAT(client_->ActionResults(more, limits_), ElementsAre(std::nullopt));
  EXPECT_EQ(client_->Get(more[0], limits_).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(fake_.Calls("Read") + fake_.Calls("BatchReadBlobs") + fake_.Calls("GetActionResult"),
            0u);
  EXPECT_TRUE(client_->FindMissing(more).ok()) << "it is written to as before";
}

TEST_F(ReapiClientTest, AStoreWithOneWrongBlobInTenIsReadToTheEnd) {
  const std::vector<Digest> there = There(1000, 200);
  fake_.Rot(10);
  limits_.is_waited_for = true;
  const size_t lacking = LackingAfterFetch(there).size();
  const RemoteState state = client_->State();
  EXPECT_EQ(state.given_up, RemoteState::GivenUp::kNo);
  EXPECT_EQ(state.blobs_wrong, lacking);
  EXPECT_EQ(state.blobs_came, 1000u);
  EXPECT_GT(lacking, 50u);
  EXPECT_LT(lacking, 150u);
}

TEST_F(ReapiClientTest, WhatIsWrongThereIsRightAfterItWasSentAgain) {
  for (const size_t size : {size_t{2000}, size_t{2'000'000}}) {
    fake_.Empty();
    Connect({});
    fake_.Set({.overwrites = true});
    const std::vector<Digest> there = There(3, size);
    fake_.Rot(1);
    EXPECT_EQ(LackingAfterFetch(there).size(), 3u);
    EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
    EXPECT_EQ(client_->Doubted(there), there);
    Here(3, size);
    EXPECT_TRUE(client_->Send(there, local_, limits_).ok());
    ExpectThere(there);
    EXPECT_THAT(client_->Doubted(there), IsEmpty());
    EXPECT_EQ(client_->State().blobs_repaired, 3u);
    EXPECT_EQ(client_->State().blobs_kept_wrong, 0u);
  }
}

TEST_F(ReapiClientTest, AServerThatKeepsWhatItHasIsFoundOut) {
  for (const size_t size : {size_t{2000}, size_t{2'000'000}}) {
    fake_.Empty();
    Connect({});
    const std::vector<Digest> there = There(3, size);
    fake_.Rot(1);
    EXPECT_EQ(LackingAfterFetch(there).size(), 3u);
    EXPECT_EQ(client_->Doubted(there), there);
    Here(3, size);
    EXPECT_TRUE(client_->Send(there, local_, limits_).ok());
    EXPECT_THAT(client_->Doubted(there), IsEmpty()) << "it would be in vain";
    EXPECT_EQ(client_->State().blobs_repaired, 0u);
    EXPECT_EQ(client_->State().blobs_kept_wrong, 3u);
  }
}

TEST_F(ReapiClientTest, AStoreWhoseReadsHangIsNotReadFromAnyMore) {
  const std::vector<Digest> there = There(40, 2'000'000);
  Connect({.breaker = {.failures_max = 1000, .failing_max = absl::Hours(1)},
           .verdict = {.lost_max = absl::Milliseconds(200)},
           .call_deadline = absl::Milliseconds(100)});
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
  fake_.Set({.read_delay = absl::Hours(1)});
  limits_.is_waited_for = true;
  EXPECT_EQ(LackingAfterFetch(there).size(), there.size());
  EXPECT_EQ(client_->State().given_up, RemoteState::GivenUp::kSlow);
  EXPECT_LT(fake_.Calls("Read"), 20u) << "four at once, and none twice";
  fake_.Set({});
}

// ------------------------------------------------------------------ what breaks

TEST_F(ReapiClientTest, AReadThatBrokeGoesOn) {
  for (const bool has_zstd : {false, true}) {
    // A compressed read that continues in the middle would end in a third read, uncompressed.
    const int breaks = has_zstd ? 1 : 2;
    fake_.Set({.has_zstd = has_zstd, .break_reads = breaks});
    Connect({});
    local_.Drop(Digest::Of(RandomBytes(2'000'000, 0)));
    const std::vector<Digest> there = There(1, 2'000'000);
    fake_.ForgetCalls();
    EXPECT_THAT(LackingAfterFetch(there), IsEmpty());
    ExpectHere(there);
    EXPECT_EQ(fake_.Calls("Read"), static_cast<uint64_t>(breaks) + 1);
  }
}

TEST_F(ReapiClientTest, AServerThatIgnoresWhereAReadBeginsIsFoundOut) {
  fake_.Set({.has_zstd = false, .ignores_read_offset = true, .break_reads = 1});
  const std::vector<Digest> there = There(1, 2'000'000);
  EXPECT_THAT(LackingAfterFetch(there), IsEmpty()) << "once more from the start";
  ExpectHere(there);
  EXPECT_EQ(client_->State().blobs_wrong, 0u);
}

TEST_F(ReapiClientTest, AWriteThatBrokeGoesOnWhereTheServerSays) {
  for (const FakeReapiManners& manners :
       {FakeReapiManners{.has_zstd = false, .break_writes = 2},
        FakeReapiManners{.has_zstd = true, .break_writes = 2},
        FakeReapiManners{.has_zstd = false, .break_writes = 1, .refuses_write_offset = true},
        FakeReapiManners{.has_zstd = false, .break_writes = 2, .has_no_write_status = true}}) {
    fake_.Set(manners);
    fake_.Empty();
    Connect({});
    const std::vector<Digest> here = Here(1, 2'000'000);
    fake_.ForgetCalls();
    const absl::Status sent = client_->Send(here, local_, limits_);
    EXPECT_TRUE(sent.ok()) << sent;
    ExpectThere(here);
    EXPECT_EQ(fake_.Calls("Write"), 3u);
  }
}

TEST_F(ReapiClientTest, AnySizeThatIsSaidToBeCommittedIsSuccess) {
  using enum FakeReapiManners::Committed;
  for (const auto committed : {kSize, kReceived, kMinusOne, kNonsense}) {
    for (const bool has_zstd : {false, true}) {
      fake_.Set({.has_zstd = has_zstd, .committed = committed});
      fake_.Empty();
      Connect({});
      const std::vector<Digest> here = Here(1, 2'000'000);
      EXPECT_TRUE(client_->Send(here, local_, limits_).ok());
      ExpectThere(here);
      EXPECT_TRUE(client_->Send(here, local_, limits_).ok()) << "which is there already";
    }
  }
}

TEST_F(ReapiClientTest, CallsAreTriedAgainAsOftenAsMayHelp) {
  const std::vector<Digest> there = There(1, 100);
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());  // learns the server's capabilities
  fake_.Set({.fail_calls = 4});
  EXPECT_THAT(LackingAfterFetch(there), IsEmpty());
  fake_.ForgetCalls();
  fake_.Set({.fail_calls = 100});
  EXPECT_EQ(client_->FindMissing(there).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(fake_.Calls("FindMissingBlobs"), 5u);
  EXPECT_EQ(client_->State().calls_failed, 1u);
  fake_.ForgetCalls();
  fake_.Set({.fail_calls = 100, .fail_code = absl::StatusCode::kPermissionDenied});
  EXPECT_EQ(client_->FindMissing(there).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(fake_.Calls("FindMissingBlobs"), 1u);
}

TEST_F(ReapiClientTest, AServerMayAskForTime) {
  const std::vector<Digest> there = There(1, 100);
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
  fake_.Set({.fail_calls = 1,
             .fail_code = absl::StatusCode::kResourceExhausted,
             .retry_info = absl::Milliseconds(200)});
  const absl::Time begun = absl::Now();
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
  EXPECT_GE(absl::Now() - begun, absl::Milliseconds(200));
}

// ------------------------------------------------------------------ a server that is down

TEST_F(ReapiClientTest, OneThatIsDownIsNotAskedButProbed) {
  const std::vector<Digest> there = There(1, 100);
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
  fake_.Set({.fail_calls = 1000});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(client_->FindMissing(there).ok());
  EXPECT_TRUE(client_->State().is_down);
  EXPECT_THAT(client_->State().reason, HasSubstr("FindMissingBlobs"));
  fake_.Set({});
  fake_.ForgetCalls();
  EXPECT_EQ(LackingAfterFetch(there), there) << "nobody has looked yet";
  EXPECT_THAT(client_->ActionResults(there, limits_), ElementsAre(std::nullopt));
  EXPECT_EQ(fake_.Calls("BatchReadBlobs") + fake_.Calls("GetActionResult"), 0u);
  clock_->Advance(absl::Seconds(1));
  EXPECT_THAT(LackingAfterFetch(there), IsEmpty());
  EXPECT_EQ(fake_.Calls("GetCapabilities"), 1u);
  EXPECT_FALSE(client_->State().is_down);
  ExpectHere(there);
}

TEST_F(ReapiClientTest, OneThatWasKilledIsUsedAgainWhenItIsBack) {
  const std::vector<Digest> there = There(1, 100);
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
  fake_.Kill();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(client_->FindMissing(there).ok());
  EXPECT_TRUE(client_->State().is_down);
  fake_.Restart();
  // A channel may need a moment to notice that it can connect again.
  while (client_->State().is_down) {
    clock_->Advance(absl::Minutes(2));
    EXPECT_TRUE(client_->Fetch(there, local_, limits_).ok());
  }
  EXPECT_THAT(LackingAfterFetch(there), IsEmpty());
  ExpectHere(there);
}

TEST_F(ReapiClientTest, OneThatWasNeverUpIsDownAtTheFirstQuestion) {
  fake_.Kill();
  EXPECT_EQ(client_->FindMissing(std::vector<Digest>{Digest::Of("x")}).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_TRUE(client_->State().is_down);
  EXPECT_THAT(client_->State().reason, HasSubstr("GetCapabilities"));
}

TEST_F(ReapiClientTest, OneThatSpeaksNoSha256IsOfNoUse) {
  fake_.Set({.has_sha256 = false});
  const std::vector<Digest> there = There(1, 100);
  EXPECT_EQ(LackingAfterFetch(there), there);
  EXPECT_TRUE(client_->State().is_down);
  EXPECT_THAT(client_->State().reason, HasSubstr("SHA-256"));
  fake_.ForgetCalls();
  clock_->Advance(absl::Hours(1));
  EXPECT_EQ(LackingAfterFetch(there), there);
  EXPECT_EQ(fake_.Calls("GetCapabilities"), 0u) << "it will not learn it";
}

TEST_F(ReapiClientTest, OneThatHangsCostsWhatOneIsReadyToWait) {
  fake_.Set({.hangs = true});
  Connect({.call_deadline = absl::Milliseconds(50)});
  limits_.patience = absl::Milliseconds(200);
  const std::vector<Digest> there = There(1, 100);
  EXPECT_EQ(LackingAfterFetch(there), there);
  EXPECT_TRUE(client_->State().is_down);
}

TEST_F(ReapiClientTest, NobodyWaitsOnceItIsCancelled) {
  const std::vector<Digest> there = There(1, 100);
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
  fake_.Set({.hangs = true});
  Cancellation cancellation;
  limits_ = {.patience = absl::Hours(1), .cancellation = &cancellation};
  const WaitLimit limit("the answer of a call that hangs and is cancelled");
  auto asked =
      std::async(std::launch::async, [&] { return client_->FindMissing(there, limits_).status(); });
  while (fake_.Calls("FindMissingBlobs") < 2) std::this_thread::yield();
  cancellation.Cancel();
  EXPECT_EQ(asked.get().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(fake_.Calls("FindMissingBlobs"), 2u) << "nor is it tried again";
  EXPECT_EQ(client_->State().calls_failed, 0u) << "nor is it the server's fault";
}

TEST_F(ReapiClientTest, OneThatIsStoppedAnswersNothing) {
  const std::vector<Digest> there = There(1, 100);
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
  fake_.Set({.hangs = true});
  const WaitLimit limit("the answer of a call that hangs when its client is stopped");
  auto asked = std::async(std::launch::async, [&] { return client_->FindMissing(there).status(); });
  while (fake_.Calls("FindMissingBlobs") < 2) std::this_thread::yield();
  client_->Stop();
  EXPECT_EQ(asked.get().code(), absl::StatusCode::kCancelled);
  fake_.Set({});
  EXPECT_EQ(client_->FindMissing(there).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(client_->State().calls_failed, 0u);
}

TEST_F(ReapiClientTest, ItSaysWhoItIs) {
  fake_.Set({.token = "Bearer s3cr3t"});
  const std::vector<Digest> there = There(1, 100);
  EXPECT_EQ(client_->FindMissing(there).status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(client_->State().is_down);
  Connect({.credentials = {.authorization = "Bearer s3cr3t"}});
  EXPECT_THAT(*client_->FindMissing(there), IsEmpty());
}

TEST_F(ReapiClientTest, ATokenThatIsReplacedIsReadAgain) {
  TemporaryFolder folder;
  const std::string file = folder.In("token");
  EXPECT_TRUE(WriteFileAtomic(file, "first\n").ok());
  fake_.Set({.token = "Bearer first"});
  const std::vector<Digest> there = There(1, 100);
  Connect({.credentials = {.authorization = "Bearer first"}, .credential_file = file});
  EXPECT_TRUE(client_->FindMissing(there).ok());
  // The token expired, and the file has the next token already.
  fake_.Set({.token = "Bearer second"});
  EXPECT_TRUE(WriteFileAtomic(file, "second\n").ok());
  EXPECT_TRUE(client_->FindMissing(there).ok());
  EXPECT_EQ(client_->State().calls_failed, 0u);
  // The next token is not in the file.
  fake_.Set({.token = "Bearer third"});
  EXPECT_FALSE(client_->FindMissing(there).ok());
  EXPECT_TRUE(client_->State().is_down);
  EXPECT_THAT(client_->State().reason,
              HasSubstr("does not accept the token of " + file + ", which is read again"));
  EXPECT_TRUE(WriteFileAtomic(file, "third\n").ok());
  clock_->Advance(absl::Seconds(1));
  EXPECT_TRUE(client_->FindMissing(there).ok());
  EXPECT_FALSE(client_->State().is_down);
}

// ------------------------------------------------------------------ our own side

// A store without room.
class FullStore final : public BlobStore {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return std::vector<Digest>(digests.begin(), digests.end());
  }
  absl::StatusOr<Blob> Get(const Digest&) override { return absl::NotFoundError("empty"); }
  absl::Status Put(const Digest&, std::string_view) override {
    return absl::ResourceExhaustedError("no space on our disk");
  }
};

TEST_F(ReapiClientTest, OurOwnErrorsAreNotTheServers) {
  FullStore full;
  for (const size_t size : {size_t{100}, size_t{2'000'000}}) {
    const std::vector<Digest> there = There(1, size);
    const auto fetched = client_->Fetch(there, full, limits_);
    EXPECT_EQ(fetched.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(MessageOf(fetched.status()), "no space on our disk");
    EXPECT_EQ(client_->Send(there, full, limits_).code(), absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(client_->State().calls_failed, 0u);
  EXPECT_EQ(client_->State().blobs_wrong, 0u);
}

// ------------------------------------------------------------------ results

TEST_F(ReapiClientTest, ResultsAreWrittenAndRead) {
  const Digest output = Digest::Of("output");
  const PutResult sample = SampleResult("action", output);
  const std::vector<Digest> keys = {sample.action_key, Digest::Of("another")};
  EXPECT_THAT(client_->ActionResults(keys, limits_), ElementsAre(std::nullopt, std::nullopt));
  EXPECT_TRUE(client_->UpdateActionResult(sample.action_key, sample.result, limits_).ok());
  for (const FakeReapiManners& manners :
       {FakeReapiManners{}, FakeReapiManners{.strips_inline = true},
        FakeReapiManners{.reorders_results = true}}) {
    fake_.Set(manners);
    const auto results = client_->ActionResults(keys, limits_);
    ASSERT_TRUE(results[0].has_value());
    EXPECT_EQ(results[1], std::nullopt);
    const auto decoded = record::DecodeResult(*results[0]);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(record::EncodeResult(*decoded), sample.result);
  }
}

TEST_F(ReapiClientTest, AServerThatTakesNoResultsIsNotSentAny) {
  fake_.Set({.takes_results = false});
  const PutResult sample = SampleResult("action", Digest::Of("output"));
  EXPECT_EQ(client_->UpdateActionResult(sample.action_key, sample.result, limits_).code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(fake_.Calls("UpdateActionResult"), 0u);
}

}  // namespace
}  // namespace galley::store
