#include "director/shell/remote_look_up.h"

#include "common/record/action.h"
#include "common/record/portable_result.h"
#include "common/record/recipe.h"
#include "common/record/set_list.h"
#include "common/record/testing/sample.h"
#include "common/store/reapi/client/reapi_client.h"
#include "director/shell/shell_test_world.h"
#include "tests/testing/fake_reapi.h"

namespace galley::director {
namespace {

using galley::testing::FakeReapi;
using record::ObservationKind;
using record::Observed;

constexpr std::string_view kPackage = "/Game/a.txt";

Observed Texture(std::string value) {
  return {{ObservationKind::kPlatform, "texture", ""}, std::move(value)};
}

class RemoteLookUpTest : public ShellJournalTest {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    Write("content/a.txt", "source");
    world_.Set(MakeWorld());
    store::ReapiClientOptions options{.url = *store::ParseRemoteUrl(remote_.url()), .seed = 1};
    options.retry.first = absl::Milliseconds(1);
    client_ = store::CreateReapiClient(std::move(options));
  }

  struct There {
    std::vector<Observed> observed = {Texture("=bc")};
    std::vector<std::pair<std::string, std::string>> outputs = {{"", "made"}};
    bool is_verdict = false;
    std::string trust_domain = "main";
  };
  // Puts a result into the remote as another cook's WriteBack leaves it.
  Digest PutThere(const There& one) {
    const project::ResolvedRecipe recipe = world_.Get()->table->RecipesOf(kPackage)->front();
    const Digest source = Digest::Of("source");
    record::Result result;
    result.provenance = {.worker = "farm-9", .machine = "pollux", .identity = "copy 1"};
    for (const auto& [suffix, bytes] : one.outputs) {
      remote_.Put(Digest::Of(bytes), bytes);
      result.outputs.push_back({suffix, Digest::Of(bytes)});
    }
    if (one.is_verdict) {
      result.outputs.clear();
      result.is_verdict = true;
    }
    const record::PortableResult portable = record::EncodePortable(result);
    for (const auto& [digest, bytes] : portable.blobs) remote_.Put(digest, bytes);
    const Digest key =
        record::ActionKey({recipe.recipe, source, one.observed, one.trust_domain}).value();
    remote_.PutResult(key, portable.bytes);
    const record::SetListResult sets =
        record::EncodeSetList({record::EncodeSet(record::SetOf(one.observed))});
    remote_.PutResult(record::WeakKey(source, recipe.digest, one.trust_domain), sets.bytes);
    remote_.Put(Digest::Of(sets.list), sets.list);
    return key;
  }

  std::vector<LookUpItem> Items() {
    LookUpItem item{
        .package = PackageId(3), .name = std::string(kPackage), .platforms = 1, .generation = 5};
    item.recipes = world_.Get()->table->RecipesOf(kPackage);
    return {item};
  }

  // Brings the package and looks it up in our own store: "hit <first output's bytes>", "miss",
  // "needs A"; with the prefix "nothing, " when Bring says that nothing came.
  std::string BringAndLookUp() {
    LookUpRunner runner({.sources = [this] { return SourcesOf(world_.Get()); },
                         .store = &store_,
                         .journal = journal_.get(),
                         .results = &results_,
                         .alarm = [](const std::string&) {}},
                        options_of_runner_);
    RemoteLookUp look_up({.look_ups = &runner,
                          .store = &store_,
                          .remote = client_.get(),
                          .cancellation = &cancellation_});
    const std::string text = look_up.Bring(Items()) ? "" : "nothing, ";
    const LookedUp answer = runner.Run(Items());
    EXPECT_EQ(answer.items.size(), 1u);
    const auto& outcome = answer.items.front().outcome;
    if (const auto* needs = std::get_if<LookedUp::NeedsCooked>(&outcome))
      return text + "needs " + needs->packages.front();
    const auto* hit = std::get_if<LookedUp::Hit>(&outcome);
    if (hit == nullptr) return text + "miss";
    EXPECT_FALSE(hit->is_up_to_date);
    last_ = results_.Get(hit->result->id);
    const auto bytes = store_.Get(hit->result->outputs.front().digest);
    return text + "hit " + (bytes.ok() ? **bytes : bytes.status().ToString());
  }

  FakeReapi remote_;
  std::unique_ptr<store::RemoteCache> client_;
  Cancellation cancellation_;
  WorldHolder world_{nullptr};
  LookUpRunner::Options options_of_runner_{.trust_domain = "main"};
  StoredResultPtr last_;
};

TEST_F(RemoteLookUpTest, WhatSomebodyMadeWhoIsRevokedIsNotRead) {
  PutThere({});
  ASSERT_TRUE(store_.inner.Revoke({.what = {.worker = "farm-9@pollux"}}).ok());
  EXPECT_EQ(BringAndLookUp(), "miss") << "(its observation set is no harm)";
  EXPECT_EQ(BringAndLookUp(), "miss");
}

TEST_F(RemoteLookUpTest, WhatOnlyTheRemoteHasBecomesAHitOfOurOwn) {
  EXPECT_EQ(BringAndLookUp(), "nothing, miss");
  PutThere({});
  EXPECT_EQ(BringAndLookUp(), "hit made");
  const record::Provenance& by = last_->result.provenance;
  EXPECT_EQ(by.worker + " " + by.machine + " " + by.identity, "farm-9 pollux copy 1");
  EXPECT_EQ(by.received_from, remote_.url());
  EXPECT_EQ(by.weak_key, last_->weak_key);
  remote_.Kill();
  EXPECT_EQ(BringAndLookUp(), "nothing, hit made") << "from here on it is ours";
}

TEST_F(RemoteLookUpTest, WhatHoldsForOtherInputsIsNoHit) {
  PutThere({.observed = {Texture("=astc")}});
  EXPECT_EQ(BringAndLookUp(), "miss");
}

TEST_F(RemoteLookUpTest, WhatLacksAnythingIsNoHit) {
  PutThere({.outputs = {{"", "made"}, {".d/more", "more"}}});
  remote_.Drop(Digest::Of("more"));
  EXPECT_EQ(BringAndLookUp(), "miss");
  EXPECT_EQ(store_.inner.Stats()->results, 0u);
  remote_.Put(Digest::Of("more"), "more");
  EXPECT_EQ(BringAndLookUp(), "hit made");
}

TEST_F(RemoteLookUpTest, WrongBytesAreNoHit) {
  PutThere({});
  remote_.Set({.corrupts = true});
  EXPECT_EQ(BringAndLookUp(), "miss");
  EXPECT_EQ(client_->State().blobs_wrong, 1u);
}

TEST_F(RemoteLookUpTest, AnothersVerdictIsNotTaken) {
  PutThere({.is_verdict = true});
  EXPECT_EQ(BringAndLookUp(), "miss");
}

TEST_F(RemoteLookUpTest, ASetAloneSaysWhatMustBeKnownFirst) {
  PutThere({.observed = {{{ObservationKind::kCooked, "/Game/b.txt", ""}, "absent"}}});
  EXPECT_EQ(BringAndLookUp(), "needs /Game/b.txt");
}

TEST_F(RemoteLookUpTest, DomainsThatAreReadAreAskedFor) {
  PutThere({.trust_domain = "ci"});
  EXPECT_EQ(BringAndLookUp(), "nothing, miss");
  options_of_runner_.read_trust = {"ci"};
  EXPECT_EQ(BringAndLookUp(), "hit made");
}

TEST_F(RemoteLookUpTest, ServersMayWriteResultsTheirWay) {
  There many;
  for (int i = 0; i < 100; ++i)
    many.outputs.emplace_back(".d/" + std::to_string(i), std::to_string(i));
  const Digest key = PutThere(many);
  remote_.Set({.ignores_inline = true, .reorders_results = true});
  EXPECT_EQ(BringAndLookUp(), "hit made");
  EXPECT_EQ(last_->result.outputs.size(), 101u);
  EXPECT_EQ(last_->encoded, record::EncodeResult(*record::DecodeResult(last_->encoded)))
      << "kept as ours, whatever theirs looked like";
  EXPECT_EQ(last_->action_key, key);
}

TEST_F(RemoteLookUpTest, OurOwnErrorsLoseNothingButTheHit) {
  PutThere({});
  store_.commit_error = absl::ResourceExhaustedError("the disk is full");
  EXPECT_EQ(BringAndLookUp(), "nothing, miss");
  store_.commit_error = absl::OkStatus();
  store_.put_error = absl::ResourceExhaustedError("the disk is full");
  EXPECT_EQ(BringAndLookUp(), "nothing, miss");
  store_.put_error = absl::OkStatus();
  EXPECT_EQ(BringAndLookUp(), "hit made");
}

TEST_F(RemoteLookUpTest, NobodyIsAskedOnceItIsCancelled) {
  PutThere({});
  cancellation_.Cancel();
  EXPECT_EQ(BringAndLookUp(), "nothing, miss");
  EXPECT_EQ(remote_.Calls("GetActionResult"), 0u);
}

}  // namespace
}  // namespace galley::director
