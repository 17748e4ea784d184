#include "director/shell/lookup.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "common/record/action.h"
#include "common/record/recipe.h"
#include "common/record/testing/sample.h"
#include "director/shell/known_result.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using record::Observed;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

constexpr std::string_view kLookedUp = "/Game/a.txt";

Observed Texture(std::string value) {
  return {{ObservationKind::kPlatform, "texture", ""}, std::move(value)};
}

class LookUpTest : public ShellJournalTest {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    Write("content/a.txt", "source");
    Write("content/inc.txt", "include");
    world_.Set(MakeWorld());
  }

  struct Cached {
    std::vector<Observed> observed;
    record::Result result;
    Digest source = Digest::Of("source");
    std::string trust_domain = "main";
    LastCook last_cook = {};
  };
  Digest KeyOf(const Cached& one) {
    const project::ResolvedRecipe recipe = world_.Get()->table->RecipesOf(kLookedUp)->front();
    return record::ActionKey({recipe.recipe, one.source, one.observed, one.trust_domain}).value();
  }
  Digest PutIntoCache(const Cached& one) {
    const project::ResolvedRecipe recipe = world_.Get()->table->RecipesOf(kLookedUp)->front();
    EXPECT_TRUE(
        store_
            .Commit({.results = {{record::WeakKey(one.source, recipe.digest, one.trust_domain),
                                  record::EncodeSet(record::SetOf(one.observed)), KeyOf(one),
                                  record::EncodeResult(one.result)}}})
            .ok());
    return KeyOf(one);
  }
  Digest PutIntoJournal(const Cached& one) {
    const project::ResolvedRecipe recipe = world_.Get()->table->RecipesOf(kLookedUp)->front();
    JournalUpdate update{.package = std::string(kLookedUp), .platform = "windows"};
    update.record.recipe = recipe.digest;
    update.record.source = one.source;
    update.record.weak_key = record::WeakKey(one.source, recipe.digest, one.trust_domain);
    update.record.action_key = KeyOf(one);
    update.record.recipe_bytes = record::EncodeRecipe(recipe.recipe);
    update.record.result = record::EncodeResult(one.result);
    update.record.observed = one.observed;
    update.record.last_cook = one.last_cook;
    EXPECT_TRUE(journal_->Record({{update}}, false).ok());
    return update.record.action_key;
  }
  void Publish(const Digest& key) {
    ASSERT_TRUE(
        journal_
            ->RecordPublished("windows", {7, Digest::Of("root")}, {{{std::string(kLookedUp), key}}})
            .ok());
  }
  void Distrust() {
    ASSERT_TRUE(journal_->Invalidate({{std::string(kLookedUp)}}, journal_->meta()).ok());
  }

  LookUpRunner Runner() {
    return LookUpRunner({.sources = [this] { return SourcesOf(world_.Get()); },
                         .store = &store_,
                         .journal = journal_.get(),
                         .results = &results_,
                         .alarm = [this](const std::string& text) { alarms_.push_back(text); },
                         .reads = &reads_},
                        options_of_runner_);
  }
  // Returns the answer for platform windows: "hit <first output's bytes>", "up to date ...",
  // "verdict <error>", "miss", "needs A B", "error ...".
  std::string LookUpPackage() {
    LookUpItem item{
        .package = PackageId(3), .name = std::string(kLookedUp), .platforms = 1, .generation = 5};
    item.generated_source = generated_source_;
    item.recipes = world_.Get()->table->RecipesOf(kLookedUp);
    item.cooked = {cooked_};
    LookUpRunner runner = Runner();
    store_.look_ups = 0;
    const LookedUp answer = runner.Run({item});
    EXPECT_EQ(answer.items.size(), 1u);
    const LookedUp::Item& one = answer.items.front();
    EXPECT_EQ(one.package, PackageId(3));
    EXPECT_EQ(one.generation, 5u);
    if (const auto* miss = std::get_if<LookedUp::Miss>(&one.outcome)) {
      last_cost_ = miss->last_load + miss->last_save;
      last_memory_bytes_ = miss->last_memory_bytes;
      last_read_ = miss->last_read;
      last_work_ = miss->work;
      return "miss";
    }
    if (const auto* error = std::get_if<LookedUp::Error>(&one.outcome))
      return "error " + error->error;
    if (const auto* large = std::get_if<LookedUp::TooLarge>(&one.outcome))
      return "too large " + large->error;
    if (const auto* needs = std::get_if<LookedUp::NeedsCooked>(&one.outcome)) {
      std::string text = "needs";
      for (const std::string& package : needs->packages) text += " " + package;
      return text;
    }
    const auto& hit = std::get<LookedUp::Hit>(one.outcome);
    packages_read_ = hit.read;
    last_ = results_.Get(hit.result->id);
    if (hit.result->is_verdict) return "verdict " + hit.result->error;
    const auto bytes = store_.Get(hit.result->outputs.front().digest);
    return (hit.is_up_to_date ? "up to date " : "hit ") +
           (bytes.ok() ? **bytes : bytes.status().ToString());
  }

  WorldHolder world_{nullptr};
  LookUpRunner::Options options_of_runner_{.trust_domain = "main"};
  std::optional<Digest> generated_source_;
  CookedOutputs cooked_;
  StoredResultPtr last_;
  absl::Duration last_cost_;
  uint64_t last_memory_bytes_ = 0;
  std::vector<uint64_t> last_read_;
  std::vector<std::string> packages_read_;
  WorkId last_work_ = 0;
  std::vector<std::string> alarms_;
  StoredReads reads_;
};

TEST_F(LookUpTest, ARecordThatHoldsAnswersWithoutAnyCallOfTheStore) {
  PutIntoJournal({.observed = {Texture("=bc")}, .result = MakeResult(store_, {{"", "made"}})});
  EXPECT_EQ(LookUpPackage(), "hit made");
  EXPECT_EQ(store_.look_ups, 0);
  EXPECT_TRUE(last_->is_in_journal);
  EXPECT_FALSE(last_->is_published);
}

TEST_F(LookUpTest, AKnownResultComesWithThePackagesThatItsCookRead) {
  const Cached one{
      .observed = {{{ObservationKind::kFile, "inc.txt", ""}, Digest::Of("include").ToString()},
                   {{ObservationKind::kFile, "none.txt", ""}, "absent"}},
      .result = MakeResult(store_, {{"", "made"}})};
  PutIntoCache(one);
  EXPECT_EQ(LookUpPackage(), "hit made");
  EXPECT_THAT(packages_read_, ElementsAre("/Game/inc.txt"));
  packages_read_.clear();
  PutIntoJournal(one);
  EXPECT_EQ(LookUpPackage(), "hit made");
  EXPECT_TRUE(last_->is_in_journal);
  EXPECT_THAT(packages_read_, ElementsAre("/Game/inc.txt"));
}

TEST_F(LookUpTest, OfADisputeTheStoreIsAsked) {
  const Cached one{.observed = {Texture("=bc")}, .result = MakeResult(store_, {{"", "made"}})};
  Cached dispute = one;
  dispute.result = MakeVerdict("two cooks differ");
  dispute.result.is_disputed = true;
  PutIntoJournal(dispute);
  EXPECT_EQ(LookUpPackage(), "miss") << "somebody ended it";
  PutIntoCache(dispute);
  EXPECT_EQ(LookUpPackage(), "verdict two cooks differ");
  EXPECT_FALSE(last_->is_in_journal);
  // The journal's outcome is in dispute, and no longer counts.
  results_.Dispute(PutIntoJournal(one));
  EXPECT_EQ(LookUpPackage(), "verdict two cooks differ");
}

TEST_F(LookUpTest, AnotherDomainsDisputeIsItsOwn) {
  options_of_runner_ = {.trust_domain = "dev", .read_trust = {"main"}};
  Cached dispute{.observed = {Texture("=bc")}, .result = MakeVerdict("two cooks differ")};
  dispute.result.is_disputed = true;
  dispute.trust_domain = "main";
  PutIntoCache(dispute);
  EXPECT_EQ(LookUpPackage(), "miss");
  dispute.trust_domain = "dev";
  PutIntoCache(dispute);
  EXPECT_EQ(LookUpPackage(), "verdict two cooks differ");
}

TEST_F(LookUpTest, ARecordWithThePublishedKeyIsUpToDate) {
  const Digest key = PutIntoJournal({.observed = {}, .result = MakeResult(store_, {{"", "made"}})});
  Publish(key);
  EXPECT_EQ(LookUpPackage(), "up to date made");
  EXPECT_TRUE(last_->is_published);
  Publish(Digest::Of("another key"));
  EXPECT_EQ(LookUpPackage(), "hit made");
}

TEST_F(LookUpTest, AnUntrustedRecordIsLookedUpInTheCache) {
  const Cached one{
      .observed = {{{ObservationKind::kFile, "inc.txt", ""}, Digest::Of("include").ToString()}},
      .result = MakeResult(store_, {{"", "made"}})};
  PutIntoJournal(one);
  Distrust();
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_GT(store_.look_ups, 0);
  const Digest key = PutIntoCache(one);
  EXPECT_EQ(LookUpPackage(), "hit made");
  EXPECT_FALSE(last_->is_in_journal);
  EXPECT_EQ(last_->action_key, key);
  EXPECT_EQ(last_->last_cook.source, "cached");
  EXPECT_EQ(last_->last_cook.worker, "local-7");
  Publish(key);
  EXPECT_EQ(LookUpPackage(), "up to date made")
      << "found by look-up, and its key is the published one";
}

TEST_F(LookUpTest, AMissTellsWhatTheLastCookTook) {
  const LastCook cooked{
      .source = "cooked", .load_time = absl::Milliseconds(2), .save_time = absl::Milliseconds(30)};
  record::Result result;
  result.provenance.memory_peak_bytes = 700;
  PutIntoJournal({.observed = {Texture("=other")}, .result = result, .last_cook = cooked});
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_EQ(last_cost_, absl::Milliseconds(32));
  EXPECT_EQ(last_memory_bytes_, 700u);
  LastCook served = cooked;
  served.source = "cached";  // served by the run of another platform, or by another machine
  PutIntoJournal({.observed = {Texture("=other")}, .result = {}, .last_cook = served});
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_EQ(last_cost_, absl::ZeroDuration());
}

TEST_F(LookUpTest, AMissTellsWhichFilesTheLastCookRead) {
  const auto file = [](std::string_view path, std::string_view value) {
    return Observed{{ObservationKind::kFile, std::string(path), ""}, std::string(value)};
  };
  const std::string some = Digest::Of("some").ToString();
  const std::vector<uint64_t> ids =
      FilesRead("/Game/x/b.txt", {file("../inc.txt", some), file("/Game/y.txt", some)});
  ASSERT_EQ(ids.size(), 2u);
  PutIntoJournal({.observed = *record::Canonical({file("/Game/y.txt", some),
                                                  file("inc.txt", some),
                                                  file("none.txt", "absent"),
                                                  file("/Game/sub", "folder"),
                                                  {{ObservationKind::kExists, "q.txt", ""}, "file"},
                                                  Texture("=other")}),
                  .result = {}});
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_EQ(last_read_, ids) << "as resolved, whoever asked";
}

TEST_F(LookUpTest, AMissTellsWhichWorkIsEqual) {
  EXPECT_EQ(LookUpPackage(), "miss");
  const WorkId work = last_work_;
  EXPECT_NE(work, 0u);
  generated_source_ = Digest::Of("source");
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_EQ(last_work_, work) << "whatever the bytes come from";
  generated_source_ = Digest::Of("another source");
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_NE(last_work_, work);
}

TEST_F(LookUpTest, WorkIsEqualForPlatformsOfEqualParametersOnly) {
  const Digest weak = Digest::Of("weak");
  EXPECT_EQ(WorkOf(weak, {{"texture", "bc"}}), WorkOf(weak, {{"texture", "bc"}}));
  EXPECT_NE(WorkOf(weak, {{"texture", "bc"}}), WorkOf(weak, {{"texture", "astc"}}));
  EXPECT_NE(WorkOf(weak, {{"texture", "bc"}}), WorkOf(weak, {}));
  EXPECT_NE(WorkOf(weak, {{"a", "bc"}}), WorkOf(weak, {{"ab", "c"}}));
  EXPECT_NE(WorkOf(weak, {}), WorkOf(Digest::Of("another"), {}));
}

// The copies have results of their own: to wait for the result of another copy would be in vain.
TEST_F(LookUpTest, WhatAsksForItsNameIsEqualToNothing) {
  PutIntoCache(
      {.observed = {{{ObservationKind::kName, "", ""}, "/Game/another.txt"}}, .result = {}});
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_EQ(last_work_, 0u);
}

// The journal knows this project; observation sets come with a shared store.
TEST_F(LookUpTest, AMissThatTheJournalDoesNotKnowTellsTheFilesOfTheNewestSet) {
  const auto file = [](std::string_view path, std::string_view bytes) {
    return Observed{{ObservationKind::kFile, std::string(path), ""}, Digest::Of(bytes).ToString()};
  };
  Write("content/newer.txt", "newer");
  world_.Set(MakeWorld());
  PutIntoCache({.observed = {file("inc.txt", "older")}, .result = {}});
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_EQ(last_read_, FilesRead(kLookedUp, {file("/Game/inc.txt", "")}));
  PutIntoCache({.observed = {file("newer.txt", "older")}, .result = {}});
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_EQ(last_read_, FilesRead(kLookedUp, {file("/Game/newer.txt", "")}));
  EXPECT_THAT(reads_.Find(std::string(kLookedUp), "windows"),
              Optional(ElementsAre(file("newer.txt", "newer"))))
      << "as it is today";
}

TEST_F(LookUpTest, WhatTheJournalKnowsCountsMore) {
  PutIntoJournal({.observed = {Texture("=other")}, .result = {}});
  PutIntoCache(
      {.observed = {{{ObservationKind::kFile, "inc.txt", ""}, Digest::Of("another").ToString()}},
       .result = {}});
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_THAT(reads_.Find(std::string(kLookedUp), "windows"),
              Optional(ElementsAre(Texture("=other"))));
}

TEST_F(LookUpTest, OfManyFilesThoseOfTheLeastIdsAreTold) {
  std::vector<Observed> all;
  const std::string some = Digest::Of("some").ToString();
  for (int i = 0; i < 40; ++i)
    all.push_back({{ObservationKind::kFile, "/Game/i" + std::to_string(i), ""}, some});
  const std::vector<uint64_t> most = FilesRead(kLookedUp, {all.begin() + 1, all.end()});
  const std::vector<uint64_t> ids = FilesRead(kLookedUp, all);
  ASSERT_EQ(ids.size(), LookedUp::kLastReadMax);
  std::vector<uint64_t> both;
  std::set_intersection(ids.begin(), ids.end(), most.begin(), most.end(), std::back_inserter(both));
  EXPECT_GE(both.size(), LookedUp::kLastReadMax - 1) << "alike packages are known alike";
}

TEST_F(LookUpTest, AFileThatChangedSelectsTheResultMadeWithIt) {
  const auto seen = [](std::string_view bytes) {
    return std::vector<Observed>{
        {{ObservationKind::kFile, "inc.txt", ""}, Digest::Of(bytes).ToString()}};
  };
  PutIntoCache({.observed = seen("include"), .result = MakeResult(store_, {{"", "of include"}})});
  PutIntoCache({.observed = seen("newer"), .result = MakeResult(store_, {{"", "of newer"}})});
  EXPECT_EQ(LookUpPackage(), "hit of include");
  Write("content/inc.txt", "newer");
  world_.Set(MakeWorld());
  EXPECT_EQ(LookUpPackage(), "hit of newer");
  Write("content/inc.txt", "never seen");
  world_.Set(MakeWorld());
  EXPECT_EQ(LookUpPackage(), "miss");
}

TEST_F(LookUpTest, AChangedPlatformParameterIsSeenThoughNoFileChanged) {
  PutIntoJournal({.observed = {Texture("=bc")}, .result = MakeResult(store_, {{"", "for bc"}})});
  PutIntoCache({.observed = {Texture("=astc")}, .result = MakeResult(store_, {{"", "for astc"}})});
  EXPECT_EQ(LookUpPackage(), "hit for bc");
  project_.platforms[0].parameters["texture"] = "astc";
  world_.Set(MakeWorld());
  EXPECT_EQ(LookUpPackage(), "hit for astc");
  project_.platforms[0].parameters.clear();
  world_.Set(MakeWorld());
  EXPECT_EQ(LookUpPackage(), "miss");
}

TEST_F(LookUpTest, AChangedToolOrVariableIsSeenThoughNoSourceChanged) {
  Write("tools/pack.py", "pack");
  const Observed tool{{ObservationKind::kTool, "tools/pack.py", ""}, Digest::Of("pack").ToString()};
  const Observed variable{{ObservationKind::kEnv, "LEVEL", ""}, "=9"};
  PutIntoJournal({.observed = {tool, variable}, .result = MakeResult(store_, {{"", "made"}})});
  EXPECT_EQ(LookUpPackage(), "hit made");
  Write("tools/pack.py", "another pack");
  EXPECT_EQ(LookUpPackage(), "miss");
  Write("tools/pack.py", "pack");
  EXPECT_EQ(LookUpPackage(), "hit made");
  environment_["LEVEL"] = "8";
  world_.Set(MakeWorld());
  EXPECT_EQ(LookUpPackage(), "miss");
}

TEST_F(LookUpTest, AChangedRecipeIsNotAnsweredByTheJournal) {
  PutIntoJournal({.observed = {}, .result = MakeResult(store_, {{"", "made"}})});
  AddRule("/Game/a.txt", {.cooker = "texture"});
  world_.Set(MakeWorld());
  EXPECT_EQ(LookUpPackage(), "miss");
}

TEST_F(LookUpTest, TwoSetsThatHitWithDifferentOutputsRaiseAnAlarmAndNeitherIsUsed) {
  PutIntoCache({.observed = {Texture("=bc")}, .result = MakeResult(store_, {{"", "one"}})});
  EXPECT_EQ(LookUpPackage(), "hit one");
  PutIntoCache({.observed = {{{ObservationKind::kName, "", ""}, std::string(kLookedUp)}},
                .result = MakeResult(store_, {{"", "other"}})});
  EXPECT_EQ(LookUpPackage(), "miss");
  EXPECT_THAT(alarms_, ElementsAre(HasSubstr("/Game/a.txt")));
}

TEST_F(LookUpTest, TwoSetsThatHitWithOneOutcomeAreNoAlarm) {
  PutIntoCache({.observed = {Texture("=bc")}, .result = MakeResult(store_, {{"", "one"}})});
  PutIntoCache({.observed = {{{ObservationKind::kName, "", ""}, std::string(kLookedUp)}},
                .result = MakeResult(store_, {{"", "one"}})});
  EXPECT_EQ(LookUpPackage(), "hit one");
  EXPECT_THAT(alarms_, IsEmpty());
}

TEST_F(LookUpTest, OtherTrustDomainsAreReadOnlyWhenTheyAreNamed) {
  PutIntoCache({.observed = {},
                .result = MakeResult(store_, {{"", "released"}}),
                .trust_domain = "release"});
  EXPECT_EQ(LookUpPackage(), "miss");
  options_of_runner_.read_trust = {"other", "release"};
  EXPECT_EQ(LookUpPackage(), "hit released");
  PutIntoCache({.observed = {}, .result = MakeResult(store_, {{"", "ours"}})});
  EXPECT_EQ(LookUpPackage(), "hit ours") << "our own domain comes first";
}

TEST_F(LookUpTest, ARecordOfADomainThatIsNotReadAnyMoreDoesNotAnswer) {
  PutIntoJournal({.observed = {},
                  .result = MakeResult(store_, {{"", "released"}}),
                  .trust_domain = "release"});
  EXPECT_EQ(LookUpPackage(), "miss");
  options_of_runner_.read_trust = {"release"};
  EXPECT_EQ(LookUpPackage(), "hit released");
}

TEST_F(LookUpTest, AnAlarmInOneDomainLeavesTheOthers) {
  PutIntoCache({.observed = {Texture("=bc")}, .result = MakeResult(store_, {{"", "one"}})});
  PutIntoCache({.observed = {{{ObservationKind::kName, "", ""}, std::string(kLookedUp)}},
                .result = MakeResult(store_, {{"", "other"}})});
  PutIntoCache({.observed = {},
                .result = MakeResult(store_, {{"", "released"}}),
                .trust_domain = "release"});
  options_of_runner_.read_trust = {"release"};
  EXPECT_EQ(LookUpPackage(), "hit released");
  EXPECT_EQ(alarms_.size(), 1u);
}

TEST_F(LookUpTest, ARememberedVerdictIsTriedAgainOnlyOnRequest) {
  const Cached verdict{.observed = {}, .result = MakeVerdict("no such texture")};
  PutIntoJournal(verdict);
  EXPECT_EQ(LookUpPackage(), "verdict no such texture");
  PutIntoCache(verdict);
  Distrust();
  EXPECT_EQ(LookUpPackage(), "verdict no such texture");
  options_of_runner_.retry_failed = true;
  EXPECT_EQ(LookUpPackage(), "miss") << "neither from the journal nor from the cache";
  PutIntoJournal(verdict);
  EXPECT_EQ(LookUpPackage(), "miss");
  auto reached = std::make_shared<StoredResult>();
  reached->result = verdict.result;
  reached->action_key = KeyOf(verdict);
  reached->last_cook.source = "cooked";
  results_.Add(std::move(reached));
  EXPECT_EQ(LookUpPackage(), "verdict no such texture") << "a job of this director reached it";
}

TEST_F(LookUpTest, AChangedGeneratedSourceIsNotAnsweredByTheJournal) {
  PutIntoJournal({.observed = {},
                  .result = MakeResult(store_, {{"", "old cell"}}),
                  .source = Digest::Of("cell 1")});
  PutIntoCache({.observed = {},
                .result = MakeResult(store_, {{"", "new cell"}}),
                .source = Digest::Of("cell 2")});
  generated_source_ = Digest::Of("cell 1");
  EXPECT_EQ(LookUpPackage(), "hit old cell");
  generated_source_ = Digest::Of("cell 2");
  EXPECT_EQ(LookUpPackage(), "hit new cell");
  generated_source_ = Digest::Of("cell 3");
  EXPECT_EQ(LookUpPackage(), "miss");
}

TEST_F(LookUpTest, ASetWithCookedInputsWaitsForTheirResults) {
  const Observed cooked{{ObservationKind::kCooked, "atlas.png", ".ktx2"},
                        Digest::Of("pixels").ToString()};
  const Cached one{.observed = {cooked}, .result = MakeResult(store_, {{"", "made"}})};
  PutIntoJournal(one);
  EXPECT_EQ(LookUpPackage(), "needs /Game/atlas.png");
  EXPECT_EQ(store_.look_ups, 0);
  cooked_["/Game/atlas.png"] = {{".ktx2", Digest::Of("pixels")}};
  EXPECT_EQ(LookUpPackage(), "hit made");
  PutIntoCache(one);
  Distrust();
  EXPECT_EQ(LookUpPackage(), "hit made");
  cooked_["/Game/atlas.png"] = {{".ktx2", Digest::Of("other pixels")}};
  EXPECT_EQ(LookUpPackage(), "miss");
  cooked_.clear();
  EXPECT_EQ(LookUpPackage(), "needs /Game/atlas.png");
}

TEST_F(LookUpTest, AStoreThatDoesNotAnswerCostsACookNotAWrongAnswer) {
  PutIntoCache({.observed = {}, .result = MakeResult(store_, {{"", "made"}})});
  store_.look_up_error = absl::UnavailableError("gone");
  EXPECT_EQ(LookUpPackage(), "miss");
}

TEST_F(LookUpTest, AResultWhoseOutputIsLostIsAMiss) {
  PutIntoCache({.observed = {}, .result = MakeResult(store_, {{"", "made"}})});
  store_.inner.Drop(Digest::Of("made"));
  EXPECT_EQ(LookUpPackage(), "miss");
}

TEST_F(LookUpTest, WhatIsNoPackageAnyMoreIsAnErrorForEachPlatform) {
  LookUpRunner runner = Runner();
  const LookedUp answer = runner.Run({{.package = PackageId(3),
                                       .name = std::string(kLookedUp),
                                       .platforms = MaskOf(0) | MaskOf(2),
                                       .generation = 5}});
  ASSERT_EQ(answer.items.size(), 2u);
  EXPECT_EQ(answer.items[1].platform, 2u);
  EXPECT_EQ(answer.items[1].generation, 5u);
  for (const LookedUp::Item& one : answer.items)
    EXPECT_EQ(std::get<LookedUp::Error>(one.outcome).error, "it is no package any more");
}

TEST_F(LookUpTest, APlatformThatWentSinceIsAnsweredForToo) {
  const LookedUp answer = Runner().Run({{.package = PackageId(3),
                                         .name = std::string(kLookedUp),
                                         .platforms = MaskOf(0) | MaskOf(3),
                                         .generation = 5,
                                         .recipes = world_.Get()->table->RecipesOf(kLookedUp)}});
  ASSERT_EQ(answer.items.size(), 2u);
  for (const LookedUp::Item& one : answer.items)
    EXPECT_EQ(std::holds_alternative<LookedUp::Error>(one.outcome), one.platform == 3);
}

TEST_F(LookUpTest, ASourceThatCannotBeReadIsAnError) {
  generated_source_.reset();
  const RecipesPtr recipes = world_.Get()->table->RecipesOf(kLookedUp);
  ASSERT_TRUE(RemoveAll(Host("content/a.txt")).ok());
  const WorldPtr old = world_.Get();
  auto without = std::make_shared<World>(*old);
  without->snapshot = Scan();  // the file is gone, the table still has the package
  world_.Set(without);
  EXPECT_THAT(LookUpPackage(), testing::StartsWith("error "));
}

// The source is not read at all.
TEST_F(LookUpTest, ASourceThatIsLargerThanTheJobsMemoryIsRefusedByItsSize) {
  ASSERT_EQ(::truncate(Host("content/a.txt").c_str(), int64_t{100} << 30), 0);
  world_.Set(MakeWorld());
  options_of_runner_.memory_bytes_default = uint64_t{4} << 30;
  const RecipesPtr recipes = world_.Get()->table->RecipesOf(kLookedUp);
  ASSERT_TRUE(recipes->front().holds_source);
  EXPECT_EQ(LookUpPackage(),
            "too large /Game/a.txt has 107374182400 bytes, more than the job's memory limit of "
            "4294967296, and its cooker `" +
                recipes->front().recipe.cooker +
                "` holds all of it (a rule's memory sets the limit)");
  EXPECT_EQ(world_.Get()->snapshot->counters().files_hashed, 0u);
}

TEST_F(LookUpTest, ASourceThatIsLargerThanItsCookerTakesIsRefusedByItsSize) {
  auto recipes =
      std::make_shared<project::ResolvedRecipes>(*world_.Get()->table->RecipesOf(kLookedUp));
  recipes->front().source_bytes_max = 5;
  const LookedUp answer = Runner().Run({{.package = PackageId(3),
                                         .name = std::string(kLookedUp),
                                         .platforms = 1,
                                         .recipes = recipes}});
  ASSERT_EQ(answer.items.size(), 1u);
  EXPECT_THAT(std::get<LookedUp::TooLarge>(answer.items[0].outcome).error,
              HasSubstr("/Game/a.txt has 6 bytes; the cooker `"));
  recipes->front().source_bytes_max = 6;
  EXPECT_TRUE(std::holds_alternative<LookedUp::Miss>(Runner()
                                                         .Run({{.package = PackageId(3),
                                                                .name = std::string(kLookedUp),
                                                                .platforms = 1,
                                                                .recipes = recipes}})
                                                         .items.at(0)
                                                         .outcome));
}

TEST_F(LookUpTest, ASourceThatChangedSinceTheScanIsLeftToTheLoad) {
  Write("content/a.txt", "changed since the scan");
  EXPECT_EQ(LookUpPackage(), "miss");
}

}  // namespace
}  // namespace galley::director
