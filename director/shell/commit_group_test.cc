#include "director/shell/commit_group.h"

#include <atomic>

#include "common/record/recipe.h"
#include "director/shell/lost_files.h"
#include "director/shell/shell_test_world.h"
#include "director/shell/task_thread.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CommitGroupTest : public ShellJournalTest {
 protected:
  // Returns a result of /Game/a.txt for windows under its own key, with one output that a worker
  // wrote.
  std::shared_ptr<StoredResult> Make(std::string_view key, std::string_view output,
                                     std::string_view include = "include") {
    auto stored = std::make_shared<StoredResult>();
    stored->package = "/Game/a.txt";
    stored->platform_name = "windows";
    stored->source = Digest::Of("source");
    stored->recipe = Digest::Of("recipe");
    stored->weak_key = Digest::Of("weak");
    stored->action_key = Digest::Of(key);
    stored->observed = {{{ObservationKind::kFile, "inc.txt", ""}, Digest::Of(include).ToString()},
                        {{ObservationKind::kPlatform, "texture", ""}, "=bc"}};
    const auto blob = store_.inner.WriteAsWorker(store_.AllocateSegment().value(), output).value();
    stored->blobs = {blob};
    stored->result.outputs = {{"", blob.first}};
    stored->encoded = record::EncodeResult(stored->result);
    return stored;
  }
  CommitOutcome Commit(std::shared_ptr<StoredResult> stored, bool was_cooked = true,
                       bool may_be_stored = false) {
    const ResultId id = results_.Add(std::move(stored))->id;
    return CommitGroup(
        store_, *journal_, results_,
        {.items = {{PackageId(4), 0, id, was_cooked, waited_, cook_, is_forced_, may_be_stored}}},
        is_sent_back_, [this](const StoredResult&) { return holds_; },
        absl::UnixEpoch() + absl::Seconds(1));
  }
  std::optional<PlatformRecord> Record() {
    const auto found = journal_->Find("/Game/a.txt").value();
    return found ? std::optional(found->platforms.at("windows")) : std::nullopt;
  }

  bool holds_ = true;
  Waited waited_;
  uint64_t cook_ = 9;
  bool is_forced_ = true;
  bool is_sent_back_ = false;
};

TEST_F(CommitGroupTest, WhatIsPersistedIsInTheStoreAndInTheJournal) {
  const CommitOutcome outcome = Commit(Make("key", "made"));
  EXPECT_EQ(outcome.event.error, "");
  ASSERT_EQ(outcome.event.items.size(), 1u);
  EXPECT_EQ(outcome.event.items[0].package, PackageId(4));
  EXPECT_EQ(outcome.bytes.at(cook_).stored, 4u);
  const std::vector<Digest> keys = {Digest::Of("key")};
  EXPECT_TRUE(store_.Results(keys).value().front().has_value());
  EXPECT_EQ(*store_.Get(Digest::Of("made")).value(), "made");
  EXPECT_TRUE(store_.Get(Digest::Of(record::EncodeDetails({}))).ok())
      << "the details are a blob, too";
  EXPECT_EQ(Record()->action_key, Digest::Of("key"));
  EXPECT_TRUE(Record()->last_cook.is_first);
  EXPECT_EQ(Record()->last_cook.time, absl::UnixEpoch() + absl::Seconds(1));
}

TEST_F(CommitGroupTest, TheJournalLearnsWhichCookMadeItAndWhereItsTimeWent) {
  waited_ = {.request = absl::Seconds(1),
             .queue = absl::Seconds(2),
             .in_hand = absl::Seconds(3),
             .attempts = 4};
  Commit(Make("key", "made"));
  const LastCook last = Record()->last_cook;
  EXPECT_EQ(last.cook, 9u);
  EXPECT_TRUE(last.is_forced);
  EXPECT_EQ(last.request_time, absl::Seconds(1));
  EXPECT_EQ(last.queue_time, absl::Seconds(2));
  EXPECT_EQ(last.in_hand_time, absl::Seconds(3));
  EXPECT_EQ(last.attempts, 4u);
}

TEST_F(CommitGroupTest, WhatAnEarlierDirectorStoredIsSaidToHaveBeenThere) {
  is_forced_ = false;
  is_sent_back_ = true;
  cook_ = 8;
  EXPECT_FALSE(Commit(Make("key", "made"), true, /*may_be_stored=*/true).event.items[0].was_stored);
  EXPECT_TRUE(Record()->last_cook.is_first);
  cook_ = 9;
  EXPECT_FALSE(Commit(Make("other", "made"), true, true).event.items[0].was_stored);
  EXPECT_TRUE(journal_->ForgetUnsent(*journal_->Unsent()).ok());
  EXPECT_TRUE(Commit(Make("other", "made"), true, true).event.items[0].was_stored);
  EXPECT_EQ(journal_->Unsent()->size(), 1u) << "nobody knows whether that one sent it";
  EXPECT_EQ(Record()->last_cook.changed.size(), 0u) << "its story goes on";
  EXPECT_FALSE(Commit(Make("other", "made")).event.items[0].was_stored) << "nobody asked";
  EXPECT_FALSE(Commit(Make("other", "made otherwise"), true, true).event.items[0].was_stored);
}

TEST_F(CommitGroupTest, WhatARemoteStoreIsToBeGivenTheJournalKnowsWithTheResult) {
  const UnsentResult made{.package = "/Game/a.txt",
                          .platform = "windows",
                          .action_key = Digest::Of("key"),
                          .is_dispute = false};
  Commit(Make("key", "made"));
  EXPECT_THAT(*journal_->Unsent(), IsEmpty()) << "this cook sends nothing";
  is_sent_back_ = true;
  Commit(Make("cached", "made"), /*was_cooked=*/false);
  EXPECT_THAT(*journal_->Unsent(), IsEmpty()) << "others know it";
  Commit(Make("key", "made"));
  EXPECT_THAT(*journal_->Unsent(), ElementsAre(made));
  EXPECT_TRUE(journal_->ForgetUnsent(std::vector{made}).ok());
  EXPECT_THAT(*journal_->Unsent(), IsEmpty());
  auto verdict = Make("verdict", "made");
  verdict->result = {.is_verdict = true, .error = "no"};
  verdict->encoded = record::EncodeResult(verdict->result);
  verdict->blobs.clear();
  Commit(verdict);
  EXPECT_THAT(*journal_->Unsent(), IsEmpty()) << "a verdict is of one store";
}

TEST_F(CommitGroupTest, ADisputeIsUnsentInPlaceOfTheResult) {
  is_sent_back_ = true;
  Commit(Make("key", "made"));
  Commit(Make("key", "made otherwise"));
  EXPECT_THAT(*journal_->Unsent(), ElementsAre(UnsentResult{.package = "/Game/a.txt",
                                                            .platform = "windows",
                                                            .action_key = Digest::Of("key"),
                                                            .is_dispute = true}));
}

TEST_F(CommitGroupTest, AResultThatIsFoundAgainKeepsItsStory) {
  Commit(Make("key", "made"));
  cook_ = 10;
  auto again = Make("key", "made");
  again->last_cook.source = "cached";
  Commit(again, false);
  EXPECT_EQ(Record()->last_cook.cook, 9u);
  EXPECT_TRUE(Record()->last_cook.is_first);
  auto other = Make("other key", "made", "another include");
  other->last_cook.source = "cached";
  Commit(other, false);
  EXPECT_EQ(Record()->last_cook.cook, 10u);
  EXPECT_EQ(Record()->last_cook.changed.size(), 1u);
  EXPECT_FALSE(Record()->last_cook.is_forced) << "nothing was cooked";
}

TEST_F(CommitGroupTest, AChangedRecipeIsToldByItsParts) {
  const auto with = [&](std::string_view key, std::string settings) {
    auto stored = Make(key, "made");
    const record::Recipe recipe{
        .cooker = "texture", .identity = "1", .extension = "png", .settings = std::move(settings)};
    stored->recipe_bytes = record::EncodeRecipe(recipe);
    stored->recipe = record::RecipeDigest(recipe);
    return stored;
  };
  Commit(with("key 1", R"({"mipmaps":true,"quality":"fast"})"));
  Commit(with("key 2", R"({"block":"4x4","mipmaps":true,"quality":"thorough"})"));
  EXPECT_THAT(
      Record()->last_cook.changed,
      ElementsAre(ChangedObservation{"recipe setting block", "unset", "\"4x4\""},
                  ChangedObservation{"recipe setting quality", "\"fast\"", "\"thorough\""}));
}

TEST_F(CommitGroupTest, TheJournalLearnsOfAResultOnlyAfterTheStoreHasIt) {
  bool was_recorded = true;
  store_.on_commit = [&](const store::CommitBatch&) { was_recorded = Record().has_value(); };
  Commit(Make("key", "made"));
  EXPECT_EQ(store_.commits, 1);
  EXPECT_FALSE(was_recorded);
  EXPECT_TRUE(Record().has_value());
}

TEST_F(CommitGroupTest, AStoreThatFailsLeavesTheJournalAsItWas) {
  store_.commit_error = absl::ResourceExhaustedError("no space left on device");
  EXPECT_THAT(Commit(Make("key", "made")).event.error, HasSubstr("no space left on device"));
  EXPECT_FALSE(Record().has_value());
  store_.commit_error = absl::OkStatus();
  store_.put_error = absl::UnavailableError("the owner is gone");
  EXPECT_THAT(Commit(Make("key", "made")).event.error, HasSubstr("the owner is gone"));
  EXPECT_FALSE(Record().has_value());
}

TEST_F(CommitGroupTest, AResultWhoseBytesLieElsewhereIsRefusedAndTheRestIsCommitted) {
  auto wrong = Make("wrong", "lies elsewhere");
  wrong->blobs[0].second.offset += 8;
  auto unwritten = Make("unwritten", "nobody wrote it");
  unwritten->blobs.clear();
  unwritten->result.outputs = {{"", Digest::Of("nowhere")}};
  unwritten->encoded = record::EncodeResult(unwritten->result);
  const ResultId a = results_.Add(std::move(wrong))->id;
  const ResultId b = results_.Add(Make("right", "made"))->id;
  const ResultId c = results_.Add(std::move(unwritten))->id;
  const CommitOutcome outcome = CommitGroup(
      store_, *journal_, results_,
      {.items = {{PackageId(4), 0, a, true},
                 {PackageId(5), 0, b, true},
                 {PackageId(6), 0, c, true}}},
      /*is_sent_back=*/false, [](const StoredResult&) { return true; }, absl::UnixEpoch());
  EXPECT_EQ(outcome.event.error, "");
  EXPECT_NE(outcome.event.items[0].refused, "");
  EXPECT_EQ(outcome.event.items[1].refused, "");
  EXPECT_THAT(outcome.event.items[2].refused, HasSubstr("did not write blob"));
  const std::vector<Digest> keys = {Digest::Of("wrong"), Digest::Of("right"),
                                    Digest::Of("unwritten")};
  const auto held = store_.Results(keys).value();
  EXPECT_FALSE(held[0].has_value());
  EXPECT_TRUE(held[1].has_value());
  EXPECT_FALSE(held[2].has_value());
}

TEST_F(CommitGroupTest, OfTwoOutcomesOfAKeyNeitherIsUsed) {
  const std::shared_ptr<StoredResult> first = Make("key", "made");
  EXPECT_THAT(Commit(first).alarms, IsEmpty());
  const CommitOutcome outcome = Commit(Make("key", "made otherwise"));
  EXPECT_THAT(outcome.alarms, IsEmpty()) << "its failure says so";
  EXPECT_EQ(outcome.event.error, "");
  const ResultViewPtr instead = outcome.event.items[0].instead;
  ASSERT_NE(instead, nullptr);
  EXPECT_TRUE(instead->is_verdict);
  EXPECT_THAT(instead->error, HasSubstr("neither is used"));
  EXPECT_TRUE(record::DecodeResult(Record()->result)->is_disputed) << "store and journal agree";
  EXPECT_TRUE(results_.IsDisputed(ResultId(0))) << "a root must not name it";
  EXPECT_FALSE(results_.IsDisputed(instead->id));
  // A result that comes after the dispute is not disputed.
  EXPECT_FALSE(results_.IsDisputed(results_.Add(Make("key", "later"))->id));
}

// Two packages have the same key: the first was found by look-up before the second was cooked.
TEST_F(CommitGroupTest, AHitOfAKeyThatIsDisputedByNowIsNotRecorded) {
  Commit(Make("key", "made"));
  auto other = Make("key", "made");
  other->package = "/Game/same.txt";
  const ResultId hit = results_.Add(other)->id;
  Commit(Make("key", "made otherwise"));
  CommitGroup(
      store_, *journal_, results_, {.items = {{PackageId(5), 0, hit, false, {}}}},
      /*is_sent_back=*/false, [](const StoredResult&) { return true; }, absl::UnixEpoch());
  EXPECT_FALSE(journal_->Find("/Game/same.txt")->has_value());
}

TEST_F(CommitGroupTest, OthersWithADisputedKeyAreLookedUpAnewInTheNextCook) {
  const auto commit = [&](const std::string& package, std::string_view key) {
    auto stored = Make(key, "made");
    stored->package = package;
    Commit(stored);
  };
  commit("/Game/same.txt", "key");
  commit("/Game/other.txt", "another key");
  EXPECT_THAT(*PackagesThatLost(*journal_, store_), IsEmpty());
  const uint64_t epoch = store_.Info()->loss_epoch;
  Commit(Make("key", "made otherwise"));
  EXPECT_GT(store_.Info()->loss_epoch, epoch) << "else nobody asks";
  // The package's own record says that it is in dispute.
  EXPECT_THAT(*PackagesThatLost(*journal_, store_), ElementsAre("/Game/same.txt"));
}

TEST_F(CommitGroupTest, AVerdictAgainstASuccessRaisesAnAlarmAndTheSuccessStands) {
  Commit(Make("key", "made"));
  auto verdict = Make("key", "unused");
  verdict->blobs.clear();
  verdict->result = {.is_verdict = true, .error = "no"};
  verdict->encoded = record::EncodeResult(verdict->result);
  const CommitOutcome outcome = Commit(verdict);
  ASSERT_EQ(outcome.alarms.size(), 1u);
  EXPECT_THAT(outcome.alarms[0].text, HasSubstr("the earlier outcome stands"));
  ASSERT_NE(outcome.event.items[0].instead, nullptr);
  EXPECT_EQ(outcome.event.items[0].instead->outputs.front().digest, Digest::Of("made"));
}

TEST_F(CommitGroupTest, AConflictLeavesAHitOfItsGroupAlone) {
  Commit(Make("key", "made"));
  Commit(Make("another key", "first"));
  const ResultId conflicting = results_.Add(Make("key", "made otherwise"))->id;
  const ResultId hit = results_.Add(Make("another key", "found otherwise"))->id;
  const CommitOutcome outcome = CommitGroup(
      store_, *journal_, results_,
      {.items = {{PackageId(4), 0, conflicting, true, {}}, {PackageId(5), 0, hit, false, {}}}},
      /*is_sent_back=*/false, [](const StoredResult&) { return true; }, absl::UnixEpoch());
  EXPECT_NE(outcome.event.items[0].instead, nullptr);
  EXPECT_EQ(outcome.event.items[1].instead, nullptr);
}

TEST_F(CommitGroupTest, BytesThatTheStoreHeldAlreadyAreCountedApart) {
  EXPECT_EQ(Commit(Make("key", "made")).bytes.at(cook_).deduplicated, 0u);
  const CommitOutcome outcome = Commit(Make("another key", "made"));
  EXPECT_EQ(outcome.bytes.at(cook_).stored, 0u);
  EXPECT_EQ(outcome.bytes.at(cook_).deduplicated, 4u);
}

TEST_F(CommitGroupTest, WhatWasFoundByLookUpIsOnlyRecordedNotWrittenToTheStore) {
  const CommitOutcome outcome = Commit(Make("key", "made"), /*was_cooked=*/false);
  EXPECT_EQ(outcome.event.error, "");
  EXPECT_EQ(store_.commits, 0);
  EXPECT_FALSE(outcome.bytes.contains(cook_));
  EXPECT_EQ(Record()->action_key, Digest::Of("key"));
}

TEST_F(CommitGroupTest, WhatTheJournalSaysAlreadyIsNotWrittenAgain) {
  auto stored = Make("key", "made");
  stored->is_in_journal = true;
  EXPECT_EQ(Commit(stored, false).event.items.size(), 1u);
  EXPECT_FALSE(Record().has_value());
  Commit(stored, true);
  EXPECT_TRUE(Record().has_value()) << "but a cooked one is";
}

TEST_F(CommitGroupTest, AVerdictIsKeptWithoutOutputs) {
  auto stored = Make("key", "unused");
  stored->blobs.clear();
  stored->result = MakeVerdict("line 3: expected ';'");
  stored->encoded = record::EncodeResult(stored->result);
  EXPECT_EQ(Commit(stored).event.error, "");
  EXPECT_TRUE(record::DecodeResult(Record()->result)->is_verdict);
}

TEST_F(CommitGroupTest, ABlobThatIsNotWhereTheWorkerSaidIsRefused) {
  auto stored = Make("key", "made");
  stored->blobs[0].second.offset += 8;
  const CommitOutcome outcome = Commit(stored);
  EXPECT_EQ(outcome.event.error, "");
  EXPECT_THAT(outcome.event.items[0].refused, HasSubstr(Digest::Of("made").ToString()));
  EXPECT_FALSE(Record().has_value());
}

TEST_F(CommitGroupTest, WhatChangedIsToldBySourceRecipeAndObservation) {
  Commit(Make("key 1", "made", "old include"));
  ASSERT_TRUE(journal_
                  ->RecordPublished("windows", {7, Digest::Of("root")},
                                    {{{"/Game/a.txt", Digest::Of("key 1")}}})
                  .ok());
  auto second = Make("key 2", "made", "new include");
  second->source = Digest::Of("new source");
  second->recipe = Digest::Of("new recipe");
  Commit(second);
  const PlatformRecord record = *Record();
  EXPECT_FALSE(record.last_cook.is_first);
  EXPECT_THAT(record.last_cook.changed,
              ElementsAre(ChangedObservation{"source", Digest::Of("source").ToString(),
                                             Digest::Of("new source").ToString()},
                          ChangedObservation{"recipe", Digest::Of("recipe").ToString(),
                                             Digest::Of("new recipe").ToString()},
                          ChangedObservation{"file(inc.txt)", Digest::Of("old include").ToString(),
                                             Digest::Of("new include").ToString()}));
  EXPECT_EQ(record.published_key, Digest::Of("key 1")) << "until the next root is published";
}

TEST_F(CommitGroupTest, OnlyObservationsOfBothSetsAreCompared) {
  Commit(Make("key 1", "made"));
  auto second = Make("key 2", "made");
  second->observed = {{{ObservationKind::kExists, "new.txt", ""}, "file"},
                      {{ObservationKind::kPlatform, "texture", ""}, "=astc"}};
  Commit(second);
  EXPECT_THAT(Record()->last_cook.changed,
              ElementsAre(ChangedObservation{"platform(texture)", "=bc", "=astc"}));
}

TEST_F(CommitGroupTest, AResultThatAChangeOfFilesOvertookFeedsTheCacheAndNoMore) {
  holds_ = false;
  EXPECT_EQ(Commit(Make("key", "made")).event.error, "");
  const std::vector<Digest> keys = {Digest::Of("key")};
  EXPECT_TRUE(store_.Results(keys).value().front().has_value());
  EXPECT_FALSE(Record().has_value());
}

TEST(TaskThreadTest, RunsWhatIsPostedInOrderAndAllOfItBeforeItEnds) {
  std::vector<int> seen;
  {
    TaskThread thread;
    for (int i = 0; i < 100; ++i) thread.Post([&seen, i] { seen.push_back(i); });
    thread.Drain();
    EXPECT_EQ(seen.size(), 100u);
    for (int i = 100; i < 200; ++i) thread.Post([&seen, i] { seen.push_back(i); });
  }
  ASSERT_EQ(seen.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace galley::director
