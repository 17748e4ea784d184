#include "director/shell/write_back.h"

#include <atomic>

#include "common/base/status_macros.h"
#include "common/base/testing/await.h"
#include "common/record/action.h"
#include "common/record/portable_result.h"
#include "common/record/recipe.h"
#include "common/record/set_list.h"
#include "common/record/testing/sample.h"
#include "common/store/reapi/client/reapi_client.h"
#include "common/store/testing/memory_store.h"
#include "gmock/gmock.h"
#include "tests/testing/fake_reapi.h"

namespace galley::director {
namespace {

using galley::testing::FakeReapi;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class WriteBackTest : public ::testing::Test {
 protected:
  WriteBackTest() {
    store::ReapiClientOptions options{.url = *store::ParseRemoteUrl(remote_.url()), .seed = 1};
    options.retry.first = absl::Milliseconds(1);
    client_ = store::CreateReapiClient(std::move(options));
  }
  WriteBack::Deps Deps() {
    return {
        .store = &store_, .remote = client_.get(), .known = client_.get(), .trust_domain = "main"};
  }

  // Returns a result that was cooked and committed here.
  StoredResultPtr Cooked(const std::vector<record::Observed>& observed, size_t outputs = 2) {
    auto stored = std::make_shared<StoredResult>();
    const record::Recipe recipe = record::SampleRecipe();
    stored->package = "/Game/sky.frag";
    stored->platform_name = "windows";
    stored->source = Digest::Of("void main() {}");
    stored->recipe_bytes = record::EncodeRecipe(recipe);
    stored->recipe = record::RecipeDigest(recipe);
    stored->observed = observed;
    stored->weak_key = record::WeakKey(stored->source, stored->recipe, "main");
    stored->action_key = *record::ActionKey({recipe, stored->source, observed, "main"});
    for (size_t i = 0; i < outputs; ++i)
      stored->result.outputs.push_back({".d/" + std::to_string(i), PutHere(std::to_string(i))});
    std::sort(stored->result.outputs.begin(), stored->result.outputs.end());
    stored->result.details.generated = {
        {"_gen/cell.level", PutHere("a generated source"), "data", ""}};
    stored->result.log = Digest::Of("a log that is gone");
    stored->result.provenance.worker = "local-3";
    stored->result.provenance.received_from = "grpc://another:1";
    PutHere(record::EncodeDetails(stored->result.details));
    stored->encoded = record::EncodeResult(stored->result);
    return stored;
  }
  Digest PutHere(std::string_view bytes) {
    EXPECT_TRUE(store_.Put(Digest::Of(bytes), bytes).ok());
    return Digest::Of(bytes);
  }
  tree::ReadBlob ReaderOfRemote() {
    return [this](const Digest& digest) -> absl::StatusOr<Blob> {
      const auto bytes = remote_.Get(digest);
      if (!bytes) return absl::NotFoundError("not there");
      return MakeBlob(*bytes);
    };
  }
  std::vector<std::string> SetsThere(const Digest& weak_key) {
    const auto result = remote_.GetResult(weak_key);
    if (!result) return {};
    return record::DecodeSetList(*result, ReaderOfRemote()).value();
  }
  static std::string SetOf(const StoredResult& stored) {
    return record::EncodeSet(record::SetOf(stored.observed));
  }

  FakeReapi remote_;
  store::MemoryStore store_;
  std::unique_ptr<store::RemoteCache> client_;
};

const std::vector<record::Observed> kOneSet = record::SampleObserved();
const std::vector<record::Observed> kAnotherSet = {
    {{record::ObservationKind::kPlatform, "shader", ""}, "=spirv-1.5"}};

TEST_F(WriteBackTest, AResultGoesWithAllThatItNames) {
  for (const size_t outputs : {size_t{2}, size_t{100}}) {
    remote_.Empty();
    WriteBack write_back(Deps(), {});
    const StoredResultPtr stored = Cooked(kOneSet, outputs);
    write_back.Add(stored);
    const WriteBackReport report = write_back.Flush();
    EXPECT_EQ(report.sent, 1u) << report.reason;
    EXPECT_EQ(report.failed, 0u);

    const auto there = remote_.GetResult(stored->action_key);
    ASSERT_TRUE(there);
    const auto decoded = record::DecodePortable(*there, ReaderOfRemote());
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(decoded->outputs, stored->result.outputs);
    EXPECT_EQ(decoded->log, std::nullopt) << "servers check that what is named is there";
    EXPECT_EQ(decoded->provenance.worker, "local-3");
    EXPECT_EQ(decoded->provenance.received_from, "") << "it is received from here now";
    for (const record::Output& output : decoded->outputs) EXPECT_TRUE(remote_.Get(output.digest));
    EXPECT_TRUE(remote_.Get(Digest::Of("a generated source")));
    // Servers may want to see what the keys are made of.
    const auto action =
        record::BuildAction({record::SampleRecipe(), stored->source, stored->observed, "main"});
    EXPECT_EQ(remote_.Get(stored->action_key), action->action);
    EXPECT_EQ(remote_.Get(Digest::Of(action->command)), action->command);
    EXPECT_TRUE(remote_.Get(stored->weak_key));
    EXPECT_THAT(SetsThere(stored->weak_key), ElementsAre(SetOf(*stored)));
  }
}

TEST_F(WriteBackTest, ADisputeReplacesWhatIsThere) {
  WriteBack write_back(Deps(), {});
  const StoredResultPtr first = Cooked(kOneSet);
  write_back.Add(first);
  EXPECT_EQ(write_back.Flush().sent, 1u);
  auto dispute = std::make_shared<StoredResult>(*first);
  dispute->result = {.is_verdict = true, .is_disputed = true, .error = "two cooks differ"};
  write_back.Add(dispute);
  EXPECT_EQ(write_back.Flush().sent, 2u);
  const auto there =
      record::DecodePortable(remote_.GetResult(first->action_key).value(), ReaderOfRemote());
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_TRUE(there->is_disputed);
  EXPECT_EQ(there->error, "two cooks differ");
}

TEST_F(WriteBackTest, SetsOfOneWeakKeyGatherNewestFirst) {
  const StoredResultPtr one = Cooked(kOneSet), another = Cooked(kAnotherSet);
  WriteBack write_back(Deps(), {.threads = 1});
  for (const StoredResultPtr& stored : {one, another, one, one}) {
    write_back.Add(stored);
    write_back.Flush();
  }
  EXPECT_THAT(SetsThere(one->weak_key), ElementsAre(SetOf(*one), SetOf(*another)));
}

TEST_F(WriteBackTest, SetsThatGoAtOneTimeAllStay) {
  const StoredResultPtr one = Cooked(kOneSet), another = Cooked(kAnotherSet);
  WriteBack write_back(Deps(), {.threads = 4});
  write_back.Add(one);
  write_back.Add(another);
  EXPECT_EQ(write_back.Flush().sent, 2u);
  EXPECT_THAT(SetsThere(one->weak_key), UnorderedElementsAre(SetOf(*one), SetOf(*another)));
}

TEST_F(WriteBackTest, NoResultGoesWhereItsBlobsDidNotArrive) {
  remote_.Set({.forgets_writes = true});
  WriteBack write_back(Deps(), {});
  write_back.Add(Cooked(kOneSet));
  const WriteBackReport report = write_back.Flush();
  EXPECT_EQ(report.sent, 0u);
  EXPECT_EQ(report.failed, 1u);
  EXPECT_THAT(report.reason, HasSubstr("the server took blob"));
  EXPECT_EQ(remote_.result_count(), 0u);
}

TEST_F(WriteBackTest, AServerThatIsDownOrOnlyReadIsSaid) {
  remote_.Set({.takes_results = false});
  {
    WriteBack write_back(Deps(), {});
    write_back.Add(Cooked(kOneSet));
    const WriteBackReport report = write_back.Flush();
    EXPECT_THAT(report.reason, HasSubstr("only read"));
    EXPECT_EQ(report.unsent.size(), 0u) << "the next cook would be told the same";
  }
  remote_.Kill();
  WriteBack write_back(Deps(), {});
  for (int i = 0; i < 50; ++i) write_back.Add(Cooked(kOneSet));
  const WriteBackReport report = write_back.Flush();
  EXPECT_EQ(report.failed, 50u);
  EXPECT_NE(report.reason, "");
}

TEST_F(WriteBackTest, WhatWasSentOrIsRefusedForGoodIsSettled) {
  std::atomic<int> settled = 0;
  WriteBack::Deps deps = Deps();
  deps.settled = [&](const StoredResult&) { ++settled; };
  {
    WriteBack write_back(deps, {});
    write_back.Add(Cooked(kOneSet));
    write_back.Flush();
    EXPECT_EQ(settled, 1);
  }
  {
    remote_.Set({.takes_results = false});
    WriteBack write_back(deps, {});
    write_back.Add(Cooked(kOneSet));
    write_back.Flush();
    EXPECT_EQ(settled, 2);
  }
  remote_.Set({.token = "Bearer another"});
  WriteBack write_back(deps, {});
  write_back.Add(Cooked(kOneSet));
  const WriteBackReport report = write_back.Flush();
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(report.unsent.size(), 1u) << "the next cook may have another token";
  EXPECT_EQ(settled, 2);
}

TEST_F(WriteBackTest, WhatIsWrongThereIsSentThoughItIsNotMissing) {
  const StoredResultPtr stored = Cooked(kOneSet);
  for (const bool overwrites : {true, false}) {
    remote_.Empty();
    remote_.Set({});
    {
      WriteBack write_back(Deps(), {});
      write_back.Add(stored);
      EXPECT_EQ(write_back.Flush().sent, 1u);
    }
    remote_.Rot(1);
    remote_.Set({.overwrites = overwrites});
    store::ReapiClientOptions options{.url = *store::ParseRemoteUrl(remote_.url()), .seed = 1};
    client_ = store::CreateReapiClient(std::move(options));
    const Digest output = stored->result.outputs[0].digest;
    store::MemoryStore elsewhere;
    EXPECT_THAT(*client_->Fetch({&output, 1}, elsewhere, {}), ElementsAre(output));
    WriteBack write_back(Deps(), {});
    write_back.Add(stored);
    EXPECT_EQ(write_back.Flush().sent, 1u);
    EXPECT_EQ(Digest::Of(*remote_.Get(output)) == output, overwrites);
    EXPECT_EQ(client_->State().blobs_repaired, overwrites ? 1u : 0u);
    EXPECT_EQ(client_->State().blobs_kept_wrong, overwrites ? 0u : 1u);
  }
}

// Down: an upstream cache that is down for a while.
class Down final : public store::RemoteCache {
 public:
  explicit Down(store::RemoteCache& behind) : behind_(behind) {}
  absl::Status Fails() {
    ++tries;
    return is_down || failures-- > 0 ? absl::UnavailableError("nobody answers") : absl::OkStatus();
  }
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests,
                                                  const store::RemoteLimits& limits) override {
    RETURN_IF_ERROR(Fails());
    return behind_.FindMissing(digests, limits);
  }
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return FindMissing(digests, {});
  }
  absl::StatusOr<Blob> Get(const Digest& digest, const store::RemoteLimits& limits) override {
    return behind_.Get(digest, limits);
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override { return behind_.Get(digest); }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    return behind_.Put(digest, bytes);
  }
  absl::StatusOr<std::vector<Digest>> Fetch(std::span<const Digest> digests, store::BlobStore& into,
                                            const store::RemoteLimits& limits) override {
    return behind_.Fetch(digests, into, limits);
  }
  std::vector<Digest> Doubted(std::span<const Digest>) override { return {}; }
  absl::Status Send(std::span<const Digest> digests, store::BlobStore& from,
                    const store::RemoteLimits& limits) override {
    RETURN_IF_ERROR(Fails());
    return behind_.Send(digests, from, limits);
  }
  std::vector<std::optional<std::string>> ActionResults(
      std::span<const Digest> keys, const store::RemoteLimits& limits) override {
    return behind_.ActionResults(keys, limits);
  }
  absl::Status UpdateActionResult(const Digest& key, std::string_view result,
                                  const store::RemoteLimits& limits) override {
    RETURN_IF_ERROR(Fails());
    return behind_.UpdateActionResult(key, result, limits);
  }
  store::RemoteState State() const override { return {.url = "grpc://down", .is_down = is_down}; }
  void Stop() override { behind_.Stop(); }

  std::atomic<bool> is_down = true;
  std::atomic<int> failures = 0;  // failures to come, though the remote is not down
  std::atomic<int> tries = 0;

 private:
  store::RemoteCache& behind_;
};

TEST_F(WriteBackTest, WhatMetARemoteThatIsDownIsSentWhenItIsBack) {
  Down down(*client_);
  WriteBack::Deps deps = Deps();
  deps.remote = &down;
  deps.known = &down;
  WriteBack write_back(deps, {.pause = absl::Milliseconds(1)});
  const StoredResultPtr one = Cooked(kOneSet), another = Cooked(kAnotherSet);
  write_back.Add(one);
  write_back.Add(another);
  AwaitOrFail([&] { return down.tries > 8; }, "two results that are tried again and again");
  EXPECT_EQ(write_back.Report().failed, 0u);
  EXPECT_EQ(write_back.Report().sent, 0u);
  down.is_down = false;
  // Before anybody waits for it.
  AwaitOrFail([&] { return write_back.Report().sent == 2; }, "two results that are sent");
  EXPECT_EQ(write_back.Flush().failed, 0u);
  EXPECT_TRUE(remote_.GetResult(one->action_key));
  EXPECT_TRUE(remote_.GetResult(another->action_key));
}

TEST_F(WriteBackTest, NothingFollowsADispute) {
  Down down(*client_);
  WriteBack::Deps deps = Deps();
  deps.remote = &down;
  deps.known = &down;
  WriteBack write_back(deps, {.threads = 1, .pause = absl::Milliseconds(1)});
  const StoredResultPtr first = Cooked(kOneSet);
  write_back.Add(first);
  write_back.Add(first);
  AwaitOrFail([&] { return down.tries > 2; }, "a result that is tried again and again");
  auto dispute = std::make_shared<StoredResult>(*first);
  dispute->result = {.is_verdict = true, .is_disputed = true, .error = "two cooks differ"};
  write_back.Add(dispute);
  down.is_down = false;
  const WriteBackReport report = write_back.Flush();
  EXPECT_EQ(report.failed, 0u) << report.reason;
  const auto there =
      record::DecodePortable(remote_.GetResult(first->action_key).value(), ReaderOfRemote());
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_TRUE(there->is_disputed);
}

TEST_F(WriteBackTest, WhatFailedWhileItCameBackIsTriedOnceMore) {
  Down down(*client_);
  down.is_down = false;
  down.failures = 1;
  WriteBack::Deps deps = Deps();
  deps.remote = &down;
  deps.known = &down;
  WriteBack write_back(deps, {.threads = 1, .pause = absl::Milliseconds(1)});
  const StoredResultPtr one = Cooked(kOneSet), another = Cooked(kAnotherSet);
  write_back.Add(one);
  const auto done = [&] { return write_back.Report().sent + write_back.Report().failed; };
  AwaitOrFail([&] { return done() == 1; }, "the first result");
  EXPECT_EQ(write_back.Report().sent, 1u);
  // A server that answers everything else, but never this result, stops nobody.
  down.failures = 2;
  write_back.Add(another);
  AwaitOrFail([&] { return done() == 2; }, "the second result");
  EXPECT_EQ(write_back.Report().failed, 1u);
}

TEST_F(WriteBackTest, WhatStillMeetsItAtTheEndHasFailed) {
  Down down(*client_);
  WriteBack::Deps deps = Deps();
  deps.remote = &down;
  deps.known = &down;
  WriteBack write_back(deps, {.pause = absl::Hours(1)});
  for (int i = 0; i < 9; ++i) write_back.Add(Cooked(kOneSet));
  AwaitOrFail([&] { return down.tries > 0; }, "a result that is tried");
  const WriteBackReport report = write_back.Flush();
  EXPECT_EQ(report.unsent.size(), 9u);
  EXPECT_EQ(report.unsent[0], std::pair(std::string("/Game/sky.frag"), std::string("windows")));
  EXPECT_EQ(report.failed, 9u);
  EXPECT_EQ(report.reason, "nobody answers");
}

TEST_F(WriteBackTest, AQueueThatIsFullDropsItsOldest) {
  remote_.Set({.hangs = true});
  WriteBack write_back(Deps(), {.results_max = 2, .threads = 1});
  for (int i = 0; i < 10; ++i) write_back.Add(Cooked(kOneSet));
  // The thread may hold one result.
  EXPECT_GE(write_back.Report().dropped, 7u);
  EXPECT_EQ(write_back.Report().unsent.size(), write_back.Report().dropped);
  write_back.Cancel();
  const WriteBackReport report = write_back.Flush();
  EXPECT_EQ(report.dropped + report.failed, 10u);
  EXPECT_EQ(report.unsent.size(), 10u);
  EXPECT_EQ(report.sent, 0u);
  client_->Stop();
}

TEST_F(WriteBackTest, FlushGivesUpWhenNothingGoesOn) {
  remote_.Set({.hangs = true});
  WriteBack write_back(Deps(), {.no_progress = absl::Milliseconds(100)});
  write_back.Add(Cooked(kOneSet));
  const WriteBackReport report = write_back.Flush();
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(report.reason, "it took too long");
  client_->Stop();
}

TEST_F(WriteBackTest, AnotherDomainsResultIsNotOurs) {
  WriteBack::Deps deps = Deps();
  deps.trust_domain = "branch-x";
  WriteBack write_back(deps, {});
  write_back.Add(Cooked(kOneSet));
  EXPECT_EQ(write_back.Flush().failed, 1u);
  EXPECT_EQ(remote_.result_count(), 0u);
  EXPECT_EQ(remote_.blob_count(), 0u);
}

}  // namespace
}  // namespace galley::director
