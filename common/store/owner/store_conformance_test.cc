// The promises of every Store, whatever is behind it: a store in memory, on the disk, or behind the
// socket.
#include "common/store/local/open.h"
#include "common/store/local/segment_writer.h"
#include "common/store/owner/connect.h"
#include "common/store/owner/store_server.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

using Written = std::pair<Digest, BlobLocation>;

// A store of some kind, and how a local worker writes to it.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual StoreDirectory& store() = 0;
  virtual absl::StatusOr<Written> WriteAsWorker(uint64_t segment, std::string_view bytes) = 0;
};

class MemorySubject final : public Subject {
 public:
  StoreDirectory& store() override { return store_; }
  absl::StatusOr<Written> WriteAsWorker(uint64_t segment, std::string_view bytes) override {
    return store_.WriteAsWorker(segment, bytes);
  }

 private:
  MemoryStore store_;
};

class LocalSubject : public Subject {
 public:
  // Without syncs, which take time: no power is cut here.
  LocalSubject() : store_(*OpenLocalStore(folder_.path(), {.sync = [](int) { return 0; }})) {}
  StoreDirectory& store() override { return *store_; }
  absl::StatusOr<Written> WriteAsWorker(uint64_t segment, std::string_view bytes) override {
    absl::StatusOr<std::unique_ptr<SegmentWriter>> writer =
        SegmentWriter::Open(folder_.path(), segment);
    if (!writer.ok()) return writer.status();
    return (*writer)->Append(bytes);
  }

 protected:
  const TemporaryFolder folder_;
  const std::unique_ptr<StoreDirectory> store_;
};

class RemoteSubject final : public LocalSubject {
 public:
  RemoteSubject()
      : server_(*StoreServer::Start(*store_, folder_.path())),
        client_(*ConnectStore(folder_.path())) {}
  StoreDirectory& store() override { return *client_; }

 private:
  const std::unique_ptr<StoreServer> server_;
  const std::unique_ptr<StoreDirectory> client_;
};

struct Kind {
  const char* name;
  std::unique_ptr<Subject> (*make)();
};

class EveryStore : public testing::TestWithParam<Kind> {
 protected:
  Written WriteAsWorker(std::string_view bytes) {
    const absl::StatusOr<uint64_t> segment = store().AllocateSegment();
    EXPECT_TRUE(segment.ok()) << segment.status();
    const absl::StatusOr<Written> written = subject_->WriteAsWorker(*segment, bytes);
    EXPECT_TRUE(written.ok()) << written.status();
    return *written;
  }
  bool Has(const Digest& digest) { return store().FindMissing(std::span(&digest, 1))->empty(); }
  std::vector<std::string> SetsOf(const Digest& weak_key) {
    return store().ObservationSets(std::span(&weak_key, 1))->front();
  }
  StoreDirectory& store() { return subject_->store(); }

  const std::unique_ptr<Subject> subject_ = GetParam().make();
};

TEST_P(EveryStore, GivesBackWhatWasPut) {
  const Digest small = PutBytes(store(), "small");
  const Digest large = PutBytes(store(), LargeBytes('x', 3 << 20));
  EXPECT_EQ(GetBytes(store(), small), "small");
  EXPECT_EQ(GetBytes(store(), large), LargeBytes('x', 3 << 20));
}

TEST_P(EveryStore, HoldsTheEmptyBlobFromTheStart) {
  EXPECT_TRUE(Has(Digest()));
  EXPECT_EQ(GetBytes(store(), Digest()), "");
  EXPECT_TRUE(store().Put(Digest(), "").ok());
}

TEST_P(EveryStore, NamesMissingBlobsInTheOrderAsked) {
  const Digest here = PutBytes(store(), "here");
  const Digest a = Digest::Of("a"), b = Digest::Of("b");
  EXPECT_THAT(*store().FindMissing(std::vector<Digest>{b, here, a}), ElementsAre(b, a));
  EXPECT_EQ(store().Get(a).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(EveryStore, RefusesBytesThatAreNotTheDigests) {
  const Digest digest = Digest::Of("right");
  EXPECT_EQ(store().Put(digest, "wrong").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Has(digest));
}

TEST_P(EveryStore, AnswersForEachOfManyThatArePut) {
  const std::string large = LargeBytes('m');
  PutBytes(store(), "there already");
  const std::vector<BlobView> blobs = {{Digest::Of("one"), "one"},
                                       {Digest::Of("right"), "wrong"},
                                       {Digest::Of("there already"), "there already"},
                                       {Digest::Of(large), large},
                                       {Digest(), ""},
                                       {Digest::Of("two"), "two"},
                                       {Digest::Of("one"), "one"}};
  std::vector<absl::StatusCode> codes;
  for (const absl::Status& outcome : store().PutMany(blobs)) codes.push_back(outcome.code());
  const absl::StatusCode ok = absl::StatusCode::kOk;
  EXPECT_THAT(codes, ElementsAre(ok, absl::StatusCode::kInvalidArgument, ok, ok, ok, ok, ok));
  ASSERT_TRUE(store().Commit({}).ok());
  for (const BlobView& blob : blobs) {
    if (blob.bytes == "wrong") continue;
    const absl::StatusOr<Blob> read = store().Get(blob.digest);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(**read, blob.bytes);
  }
  EXPECT_THAT(*store().FindMissing(std::vector{Digest::Of("right"), Digest::Of("wrong")}),
              SizeIs(2));
  EXPECT_EQ(store().Stats()->blobs, 4u);
  EXPECT_TRUE(store().PutMany({}).empty());
}

TEST_P(EveryStore, TakesARightHashWithAWrongSizeForAnotherBlob) {
  const Digest good = PutBytes(store(), "good");
  const Digest bad = *Digest::FromHash(good.hash(), 5);
  EXPECT_FALSE(Has(bad));
  EXPECT_EQ(store().Get(bad).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(GetBytes(store(), good), "good");
}

TEST_P(EveryStore, KnowsAWorkersBlobOnlyOnceItIsCommitted) {
  const Written small = WriteAsWorker("by a worker");
  EXPECT_FALSE(Has(small.first));
  EXPECT_TRUE(store().Commit({.blobs = {small}}).ok());
  EXPECT_EQ(GetBytes(store(), small.first), "by a worker");
  EXPECT_EQ(store().Locate(std::span(&small.first, 1))->front(), small.second);
}

TEST_P(EveryStore, CountsABlobOnceThatWasPutAndThatAWorkerWrote) {
  const Written written = WriteAsWorker("of two writers");
  PutBytes(store(), "of two writers");
  ASSERT_TRUE(store().Commit({.blobs = {written}}).ok());
  EXPECT_EQ(store().Stats()->blobs, 1u);
  EXPECT_EQ(store().Stats()->blob_bytes, written.first.size_bytes());
}

TEST_P(EveryStore, KeepsAWorkersLargeBlob) {
  const Written large = WriteAsWorker(LargeBytes('y'));
  EXPECT_TRUE(store().Commit({.blobs = {large}}).ok());
  EXPECT_EQ(GetBytes(store(), large.first), LargeBytes('y'));
}

TEST_P(EveryStore, CommitsNothingWhenALocationIsFalse) {
  const Written right = WriteAsWorker("right");
  const Written elsewhere{Digest::Of("other"), right.second};
  const Written nowhere{Digest::Of("other"), BlobLocation{.segment = 77, .offset = 64}};
  const Written no_file{Digest::Of("other"), BlobLocation{}};
  for (const Written& wrong : {elsewhere, nowhere, no_file}) {
    EXPECT_EQ(store().Commit({.blobs = {right, wrong}}).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(Has(right.first));
  }
}

TEST_P(EveryStore, AnswersACommittedResult) {
  const PutResult put = SampleResult("a", PutBytes(store(), "output"));
  EXPECT_TRUE(store().Commit({.results = {put}}).ok());
  EXPECT_THAT(ResultOf(store(), put.action_key), Optional(put.result));
  EXPECT_EQ(ResultOf(store(), Digest::Of("another")), std::nullopt);
  EXPECT_THAT(SetsOf(put.weak_key), ElementsAre("set of a"));
  EXPECT_THAT(SetsOf(Digest::Of("another")), IsEmpty());
}

TEST_P(EveryStore, DoesNotAnswerAResultWhoseOutputsAreAbsent) {
  const PutResult put = SampleResult("a", Digest::Of("never put"));
  EXPECT_TRUE(store().Commit({.results = {put}}).ok());
  EXPECT_EQ(ResultOf(store(), put.action_key), std::nullopt);
  const Digest keys[] = {put.action_key, Digest::Of("another")};
  const auto recorded = store().RecordedResults(keys);
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_THAT(*recorded, ElementsAre(Optional(put.result), std::nullopt));
  PutBytes(store(), "never put");
  EXPECT_THAT(ResultOf(store(), put.action_key), Optional(put.result));
}

TEST_P(EveryStore, UsesNeitherOfTwoOutcomesAndNamesTheKey) {
  const PutResult first = SampleResult("a", PutBytes(store(), "one"));
  const PutResult second = SampleResult("a", PutBytes(store(), "two"));
  const PutResult other = SampleResult("b", PutBytes(store(), "three"));
  ASSERT_TRUE(store().Commit({.results = {first}}).ok());
  const uint64_t epoch = EpochOf(store());
  const absl::Status status = store().Commit({.results = {second, other}});
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(status.message()), HasSubstr(first.action_key.hex()));
  EXPECT_THAT(ResultOf(store(), other.action_key), Optional(other.result));
  const auto is_disputed = [&] {
    const auto held = ResultOf(store(), first.action_key);
    const auto decoded = record::DecodeResult(held.value_or(""));
    return decoded.ok() && decoded->is_disputed && decoded->outputs.empty();
  };
  EXPECT_TRUE(is_disputed());
  EXPECT_GT(EpochOf(store()), epoch) << "who relies on the first has to hear of it";
  // No later result ends the dispute.
  for (const PutResult& again : {first, second, SampleVerdict("a")}) {
    EXPECT_EQ(store().Commit({.results = {again}}).code(), absl::StatusCode::kAlreadyExists);
    EXPECT_TRUE(is_disputed());
  }
  EXPECT_EQ(store().Stats()->results, 2u);
  const std::vector<Digest> keys = {first.action_key};
  ASSERT_TRUE(store().Forget(keys).ok());
  EXPECT_TRUE(store().Commit({.results = {second}}).ok());
  EXPECT_THAT(ResultOf(store(), first.action_key), Optional(second.result));
}

TEST_P(EveryStore, TakesADisputeOfAnotherStore) {
  const PutResult first = SampleResult("a", PutBytes(store(), "one"));
  PutResult dispute = SampleVerdict("a");
  dispute.result =
      record::EncodeResult({.is_verdict = true, .is_disputed = true, .error = "they differ"});
  ASSERT_TRUE(store().Commit({.results = {first}}).ok());
  const uint64_t epoch = EpochOf(store());
  EXPECT_EQ(store().Commit({.results = {dispute}}).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(ResultOf(store(), first.action_key), Optional(dispute.result));
  EXPECT_GT(EpochOf(store()), epoch);
}

TEST_P(EveryStore, TellsWhenAResultLastCameToBeInDispute) {
  const PutResult first = SampleResult("a", PutBytes(store(), "one"));
  const PutResult second = SampleResult("a", PutBytes(store(), "two"));
  const PutResult other = SampleResult("b", PutBytes(store(), "three"));
  const auto disputed_epoch = [&] { return store().Info()->disputed_epoch; };
  const auto forget = [&](const PutResult& result) {
    const std::vector<Digest> keys = {result.action_key};
    const uint64_t epoch = EpochOf(store());
    ASSERT_TRUE(store().Forget(keys).ok());
    ASSERT_GT(EpochOf(store()), epoch);
  };
  ASSERT_TRUE(store().Commit({.results = {first, other}}).ok());
  forget(other);
  EXPECT_LT(disputed_epoch(), EpochOf(store())) << "nothing was ever in dispute";
  ASSERT_FALSE(store().Commit({.results = {second}}).ok());
  const uint64_t last = EpochOf(store());
  EXPECT_EQ(disputed_epoch(), last);
  ASSERT_TRUE(store().Commit({.results = {other}}).ok());
  forget(other);
  EXPECT_EQ(disputed_epoch(), last);
  // The store has no result of the key; but somebody who knows one must hear of it.
  PutResult dispute = SampleVerdict("c");
  dispute.result =
      record::EncodeResult({.is_verdict = true, .is_disputed = true, .error = "they differ"});
  ASSERT_TRUE(store().Commit({.results = {dispute}}).ok());
  EXPECT_GT(EpochOf(store()), last + 1);
  EXPECT_EQ(disputed_epoch(), EpochOf(store()));
}

TEST_P(EveryStore, UsesNeitherOfTwoOutcomesOfOneCommit) {
  const PutResult first = SampleResult("a", PutBytes(store(), "one"));
  const PutResult second = SampleResult("a", PutBytes(store(), "two"));
  EXPECT_EQ(store().Commit({.results = {first, second, first}}).code(),
            absl::StatusCode::kAlreadyExists);
  const auto held = ResultOf(store(), first.action_key);
  ASSERT_TRUE(held.has_value());
  EXPECT_TRUE(record::DecodeResult(*held)->is_disputed);
}

TEST_P(EveryStore, ReplacesAVerdictByASuccessButNotASuccessByAVerdict) {
  const PutResult verdict = SampleVerdict("a"),
                  success = SampleResult("a", PutBytes(store(), "one"));
  ASSERT_TRUE(store().Commit({.results = {verdict}}).ok());
  EXPECT_THAT(ResultOf(store(), verdict.action_key), Optional(verdict.result));
  EXPECT_TRUE(store().Commit({.results = {success}}).ok());
  EXPECT_THAT(ResultOf(store(), verdict.action_key), Optional(success.result));
  EXPECT_EQ(store().Commit({.results = {verdict}}).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(ResultOf(store(), verdict.action_key), Optional(success.result));
}

TEST_P(EveryStore, ReplacesAVerdictByASuccessOfTheSameCommit) {
  const PutResult verdict = SampleVerdict("a"),
                  success = SampleResult("a", PutBytes(store(), "one"));
  EXPECT_TRUE(store().Commit({.results = {verdict, success}}).ok());
  EXPECT_THAT(ResultOf(store(), verdict.action_key), Optional(success.result));
}

TEST_P(EveryStore, ReadsABlobInPiecesFromAnyByte) {
  const std::string bytes = LargeBytes('r', (2 << 20) + 7);
  const Digest digest = PutBytes(store(), bytes);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{5}, uint64_t{bytes.size()}}) {
    auto reader = store().NewReader(digest, offset);
    ASSERT_TRUE(reader.ok()) << reader.status();
    std::string read;
    while (true) {
      const absl::StatusOr<std::string_view> piece = (*reader)->Next(100'000);
      ASSERT_TRUE(piece.ok()) << piece.status();
      EXPECT_LE(piece->size(), 100'000u);
      if (piece->empty()) break;
      read += *piece;
    }
    EXPECT_EQ(read, bytes.substr(offset)) << offset;
  }
  EXPECT_EQ(store().NewReader(digest, bytes.size() + 1).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(store().NewReader(Digest::Of("absent"), 0).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_P(EveryStore, TakesABlobInPieces) {
  const std::string bytes = LargeBytes('w', (2 << 20) + 7);
  for (const std::string& blob : {bytes, std::string("small"), std::string()}) {
    auto writer = store().NewWriter(Digest::Of(blob));
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (size_t begin = 0; begin < blob.size(); begin += 100'000)
      ASSERT_TRUE((*writer)->Append(std::string_view(blob).substr(begin, 100'000)).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
    EXPECT_EQ(GetBytes(store(), Digest::Of(blob)), blob);
  }
}

TEST_P(EveryStore, TakesNoPiecesThatAreNotTheDigests) {
  const std::string bytes = LargeBytes('w', (2 << 20) + 7);
  const Digest digest = Digest::Of(bytes);
  auto longer = *store().NewWriter(digest);
  ASSERT_TRUE(longer->Append(bytes).ok());
  EXPECT_EQ(longer->Append("?").code(), absl::StatusCode::kInvalidArgument);
  auto shorter = *store().NewWriter(digest);
  ASSERT_TRUE(shorter->Append(bytes.substr(1)).ok());
  EXPECT_EQ(shorter->Finish().code(), absl::StatusCode::kInvalidArgument);
  auto other = *store().NewWriter(digest);
  ASSERT_TRUE(other->Append("?" + bytes.substr(1)).ok());
  EXPECT_EQ(other->Finish().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Has(digest));
}

TEST_P(EveryStore, TakesAResultWithoutASet) {
  PutResult put = SampleResult("a", PutBytes(store(), "output"));
  put.weak_key = Digest();
  EXPECT_TRUE(store().Commit({.results = {put}}).ok());
  EXPECT_THAT(ResultOf(store(), put.action_key), Optional(put.result));
  EXPECT_THAT(SetsOf(Digest()), IsEmpty());
}

TEST_P(EveryStore, TakesASetWithoutAResult) {
  const Digest weak_key = Digest::Of("weak");
  ASSERT_TRUE(store()
                  .Commit({.sets = {{.weak_key = weak_key, .observation_set = "one"},
                                    {.weak_key = weak_key, .observation_set = "two"}}})
                  .ok());
  EXPECT_THAT(SetsOf(weak_key), ElementsAre("two", "one"));
  ASSERT_TRUE(store().Commit({.sets = {{.weak_key = weak_key, .observation_set = "one"}}}).ok());
  EXPECT_THAT(SetsOf(weak_key), ElementsAre("one", "two"));
}

TEST_P(EveryStore, AnswersTheLastResultOfAnotherProgramAsItCame) {
  const Digest action = Digest::Of("action");
  const std::string first = SampleActionResult({{"out/a", PutBytes(store(), "one")}}),
                    last = SampleActionResult({{"out/a", PutBytes(store(), "two")}});
  ASSERT_TRUE(CommitActionResult(store(), "team/a", action, first).ok());
  EXPECT_THAT(ActionResultOf(store(), "team/a", action), Optional(first));
  ASSERT_TRUE(CommitActionResult(store(), "team/a", action, last).ok());
  EXPECT_THAT(ActionResultOf(store(), "team/a", action), Optional(last));
  EXPECT_EQ(ActionResultOf(store(), "team/b", action), std::nullopt);
  EXPECT_EQ(ActionResultOf(store(), "team/a", Digest::Of("another")), std::nullopt);
  EXPECT_EQ(ResultOf(store(), action), std::nullopt) << "it is none of ours";
}

TEST_P(EveryStore, DoesNotAnswerAnotherProgramsResultThatNamesWhatIsAbsent) {
  const Digest action = Digest::Of("action");
  const std::string result = SampleActionResult({{"out/a", Digest::Of("late")}});
  ASSERT_TRUE(CommitActionResult(store(), "", action, result).ok());
  EXPECT_EQ(ActionResultOf(store(), "", action), std::nullopt);
  PutBytes(store(), "late");
  EXPECT_THAT(ActionResultOf(store(), "", action), Optional(result));
}

TEST_P(EveryStore, RefusesAnotherProgramsResultThatIsNone) {
  const absl::Status status = CommitActionResult(store(), "", Digest::Of("action"), "ÿ");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(Digest::Of("action").ToString()));
}

TEST_P(EveryStore, CountsUpWithEverythingThatIsWritten) {
  uint64_t last = store().Info()->commits;
  const auto rose = [&] {
    const uint64_t before = std::exchange(last, store().Info()->commits);
    return last > before;
  };
  const PutResult put = SampleResult("a", PutBytes(store(), "one"));
  ASSERT_TRUE(store().Commit({.results = {put}}).ok());
  EXPECT_TRUE(rose());
  ASSERT_TRUE(store().Publish(SampleRoot("windows", Digest::Of("one"))).ok());
  EXPECT_TRUE(rose());
  ASSERT_TRUE(store().Forget(std::span(&put.action_key, 1)).ok());
  EXPECT_TRUE(rose());
}

TEST_P(EveryStore, TakesTheSameOutcomeTwice) {
  const PutResult put = SampleResult("a", PutBytes(store(), "one"));
  EXPECT_TRUE(store().Commit({.results = {put}}).ok());
  EXPECT_TRUE(store().Commit({.results = {put, put}}).ok());
  EXPECT_THAT(SetsOf(put.weak_key), ElementsAre("set of a"));
}

TEST_P(EveryStore, RefusesAResultThatIsNone) {
  PutResult put = SampleResult("a", Digest());
  put.result = "\xff\xff\xff";
  EXPECT_EQ(store().Commit({.results = {put}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(EveryStore, KeepsTheNewestSixteenObservationSets) {
  PutResult put = SampleResult("a", Digest());
  for (int i = 0; i < 20; ++i) {
    put.observation_set = "set " + std::to_string(i);
    put.action_key = Digest::Of(put.observation_set);
    ASSERT_TRUE(store().Commit({.results = {put}}).ok());
  }
  EXPECT_EQ(SetsOf(put.weak_key).size(), ActionCache::kSetsMax);
  EXPECT_EQ(SetsOf(put.weak_key).front(), "set 19");
  put.observation_set = "set 10";
  ASSERT_TRUE(store().Commit({.results = {put}}).ok());
  EXPECT_EQ(SetsOf(put.weak_key).size(), ActionCache::kSetsMax);
  EXPECT_EQ(SetsOf(put.weak_key).front(), "set 10");
}

TEST_P(EveryStore, NumbersRootsByProjectAndPlatform) {
  const Digest a = PutBytes(store(), "a"), b = PutBytes(store(), "b");
  EXPECT_EQ(*store().Publish(SampleRoot("windows", a)), 1u);
  EXPECT_EQ(*store().Publish(SampleRoot("android", a)), 1u);
  EXPECT_EQ(*store().Publish(SampleRoot("windows", b)), 2u);
  const auto roots = store().Roots("project");
  ASSERT_EQ(roots->size(), 3u);
  EXPECT_EQ(roots->front().root, b);
  EXPECT_EQ(roots->front().sequence, 2u);
  EXPECT_TRUE(roots->front().by_the_book);
  EXPECT_EQ(roots->front().time, absl::FromUnixSeconds(1'700'000'000));
  EXPECT_EQ(roots->front().snapshot, Digest::Of("snapshot"));
  EXPECT_EQ(roots->back().platform, "windows");
  EXPECT_THAT(*store().Roots("projec"), IsEmpty());
  EXPECT_EQ(store().Roots("")->size(), 3u) << "every project's";
}

TEST_P(EveryStore, PublishesNoRootThatIsAbsent) {
  EXPECT_EQ(store().Publish(SampleRoot("windows", Digest::Of("absent"))).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(*store().Roots("project"), IsEmpty());
}

PutResult MadeBy(const std::string& worker, const std::string& action, const Digest& output) {
  PutResult put = SampleResult(action, output);
  record::Result result = *record::DecodeResult(put.result);
  result.provenance.worker = worker;
  result.provenance.machine = "on-" + worker;
  result.provenance.taken = absl::FromUnixSeconds(1'700'000'000);
  put.result = record::EncodeResult(result);
  return put;
}

TEST_P(EveryStore, TakesBackWhatAWorkerMade) {
  const Digest bytes = PutBytes(store(), "one");
  const PutResult good = MadeBy("far-1", "a", bytes), bad = MadeBy("far-2", "b", bytes);
  ASSERT_TRUE(store().Commit({.results = {good, bad}}).ok());
  const StoreInfo before = *store().Info();
  const auto dry = store().Revoke({.what = {.worker = "far-2"}, .is_dry = true});
  ASSERT_TRUE(dry.ok()) << dry.status();
  ASSERT_EQ(dry->results.size(), 1u);
  EXPECT_THAT(ResultOf(store(), bad.action_key), Optional(bad.result));
  EXPECT_EQ(EpochOf(store()), before.loss_epoch);
  EXPECT_THAT(*store().Revocations(), IsEmpty());

  const auto report = store().Revoke({.what = {.worker = "far-2"}});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->results.size(), 1u);
  const RevokeReport::Result& gone = report->results[0];
  EXPECT_EQ(gone.key, bad.action_key);
  EXPECT_EQ(gone.worker, "far-2");
  EXPECT_EQ(gone.machine, "on-far-2");
  EXPECT_EQ(gone.taken, absl::FromUnixSeconds(1'700'000'000));
  EXPECT_TRUE(gone.is_ours);
  EXPECT_THAT(gone.outputs, ElementsAre(bytes));
  EXPECT_EQ(ResultOf(store(), bad.action_key), std::nullopt);
  EXPECT_THAT(ResultOf(store(), good.action_key), Optional(good.result));
  const StoreInfo after = *store().Info();
  EXPECT_GT(after.loss_epoch, before.loss_epoch);
  EXPECT_EQ(after.disputed_epoch, after.loss_epoch);
  const auto revoked = store().Revocations();
  ASSERT_EQ(revoked->size(), 1u);
  EXPECT_EQ(revoked->front().worker, "far-2");
  EXPECT_EQ(revoked->front().since, absl::InfinitePast());
}

TEST_P(EveryStore, KeepsLeasesByName) {
  const Digest root = PutBytes(store(), "root"), other = PutBytes(store(), "other");
  const absl::Time until = absl::FromUnixSeconds(9'000'000'000);
  EXPECT_THAT(*store().Leases(), IsEmpty());
  ASSERT_TRUE(store()
                  .ChangeLeases({.taken = {{.name = "b", .root = root, .until = until},
                                           {.name = "a/1", .root = root, .until = until},
                                           {.name = "b", .root = other, .until = until}}})
                  .ok());
  const RootLease a{.name = "a/1", .root = root, .until = until};
  const RootLease b{.name = "b", .root = other, .until = until};
  EXPECT_THAT(*store().Leases(), ElementsAre(a, b));
  ASSERT_TRUE(store().ChangeLeases({.released = {"b", "never taken"}}).ok());
  EXPECT_THAT(*store().Leases(), ElementsAre(a));
  ASSERT_TRUE(store().ChangeLeases({.released = {"a/1"}, .taken = {a, b}}).ok());
  EXPECT_THAT(*store().Leases(), ElementsAre(a, b)) << "taken after the release";
}

TEST_P(EveryStore, TakesAllLeasesOrNone) {
  const RootLease good{.name = "good",
                       .root = PutBytes(store(), "root"),
                       .until = absl::FromUnixSeconds(9'000'000'000)};
  RootLease bad = good;
  bad.name = "a bad name";
  EXPECT_EQ(store().ChangeLeases({.taken = {good, bad}}).code(),
            absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.name = "absent";
  bad.root = Digest::Of("absent");
  EXPECT_EQ(store().ChangeLeases({.taken = {good, bad}}).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(*store().Leases(), IsEmpty());
}

TEST_P(EveryStore, LetsBeWhatWasTakenBefore) {
  const PutResult put = MadeBy("far-2", "b", PutBytes(store(), "one"));
  ASSERT_TRUE(store().Commit({.results = {put}}).ok());
  const auto report =
      store().Revoke({.what = {.worker = "far-2", .since = absl::FromUnixSeconds(1'700'000'001)}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->results, IsEmpty());
  EXPECT_THAT(ResultOf(store(), put.action_key), Optional(put.result));
}

TEST_P(EveryStore, ForgetsResultsAndRaisesTheLossEpoch) {
  const PutResult put = SampleResult("a", PutBytes(store(), "one"));
  ASSERT_TRUE(store().Commit({.results = {put}}).ok());
  const uint64_t before = EpochOf(store());
  EXPECT_TRUE(store().Forget(std::span(&put.action_key, 1)).ok());
  EXPECT_EQ(ResultOf(store(), put.action_key), std::nullopt);
  EXPECT_EQ(EpochOf(store()), before + 1);
  const PutResult again = SampleResult("a", PutBytes(store(), "two"));
  EXPECT_TRUE(store().Commit({.results = {again}}).ok());
  EXPECT_THAT(ResultOf(store(), put.action_key), Optional(again.result));
}

TEST_P(EveryStore, CountsWhatItHolds) {
  const PutResult put = SampleResult("a", PutBytes(store(), "four"));
  ASSERT_TRUE(store().Commit({.results = {put}}).ok());
  ASSERT_TRUE(store().Publish(SampleRoot("windows", Digest::Of("four"))).ok());
  const StoreStats stats = *store().Stats();
  EXPECT_EQ(stats.blobs, 1u);
  EXPECT_EQ(stats.blob_bytes, 4u);
  EXPECT_EQ(stats.results, 1u);
  EXPECT_EQ(stats.observation_sets, 1u);
  EXPECT_EQ(stats.roots, 1u);
  EXPECT_EQ(stats.quarantined, 0u);
}

TEST_P(EveryStore, FindsNothingWrongWithWhatWasJustWritten) {
  PutBytes(store(), "small");
  PutBytes(store(), LargeBytes('z'));
  const Written written = WriteAsWorker("by a worker");
  ASSERT_TRUE(
      store().Commit({.blobs = {written}, .results = {SampleResult("a", written.first)}}).ok());
  const VerifyReport report = *store().Verify();
  EXPECT_EQ(report.blobs, 3u);
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(EpochOf(store()), 0u);
}

// For a store on the disk; a store in memory is read at once.
TEST_P(EveryStore, TellsHowFarAVerifyIsAndStopsItWhenNobodyWantsIt) {
  PutBytes(store(), "small");
  ASSERT_TRUE(store().Commit({}).ok());
  bool is_told = false;
  const auto listen = [&](const VerifyProgress& progress) {
    is_told = true;
    EXPECT_EQ(progress.phase, "blobs");
    EXPECT_EQ(progress.bytes_total, 5u);
    return true;
  };
  ASSERT_TRUE(store().Verify({.on_progress = listen}).ok());
  if (!is_told) return;
  const auto stop = [](const VerifyProgress&) { return false; };
  // Another process may have read all of such a small store before it hears of the stop.
  EXPECT_TRUE(absl::IsAborted(store().Verify({.on_progress = stop}).status()));
  EXPECT_TRUE(store().Verify().ok());
}

TEST_P(EveryStore, SaysWhatKeepsABlob) {
  const Digest output = PutBytes(store(), "output");
  ASSERT_TRUE(store().Commit({.results = {SampleResult("a", output)}}).ok());
  ASSERT_TRUE(store().Publish(SampleRoot("windows", output)).ok());
  const absl::StatusOr<WhyReport> report = store().Why(output, 20);
  if (absl::IsUnimplemented(report.status())) return;
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->location.has_value());
  EXPECT_GT(report->written, absl::UnixEpoch());
  ASSERT_EQ(report->roots.size(), 1u);
  EXPECT_EQ(report->roots[0].root.platform, "windows");
  EXPECT_TRUE(report->roots[0].is_kept);
  ASSERT_EQ(report->results.size(), 1u);
  EXPECT_EQ(report->results[0].key, Digest::Of("a"));
  EXPECT_TRUE(report->results[0].is_ours);
  EXPECT_EQ(report->results[0].used, absl::InfinitePast());
  EXPECT_FALSE(store().Why(Digest::Of("never there"), 20)->location.has_value());
}

// For a store on the disk; a store in memory collects nothing.
TEST_P(EveryStore, CollectsWhatNothingNeeds) {
  const PutResult put = SampleResult("a", PutBytes(store(), "output"));
  ASSERT_TRUE(store().Commit({.results = {put}}).ok());
  const absl::StatusOr<GcReport> report = store().Collect({.bytes_max = 0, .is_dry = true});
  if (absl::IsUnimplemented(report.status())) return;
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->dropped_results + report->results, 1u);
  EXPECT_EQ(report->dropped_blobs + report->blobs, 1u);
  EXPECT_TRUE(store().Collect({.age_max = absl::Hours(1)}).ok());
  EXPECT_EQ(GetBytes(store(), Digest::Of("output")), "output");
}

INSTANTIATE_TEST_SUITE_P(
    Stores, EveryStore,
    testing::Values(Kind{"Memory", [] { return std::unique_ptr<Subject>(new MemorySubject); }},
                    Kind{"Local", [] { return std::unique_ptr<Subject>(new LocalSubject); }},
                    Kind{"Remote", [] { return std::unique_ptr<Subject>(new RemoteSubject); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace galley::store
