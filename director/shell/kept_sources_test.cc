#include "director/shell/kept_sources.h"

#include <set>

#include "absl/synchronization/notification.h"
#include "common/record/kept_action.h"
#include "common/record/recipe.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using testing::HasSubstr;

class KeptSourcesTest : public ShellTest {
 protected:
  bool Has(std::string_view bytes) { return HasBlob(Digest::Of(bytes)); }
  bool HasBlob(const Digest& digest) { return store_.inner.Get(digest).ok(); }
  SourcesPtr KeepingSourcesOf(const WorldPtr& world) {
    return std::make_shared<ProjectSources>(world, tools_, &kept_);
  }
  KeptSources::Kept KeepFiles(const World& world, const std::vector<std::string>& paths) {
    return kept_.KeepFiles(world, paths, nobody_stops_);
  }
  // Returns a result of /Game/a.txt that observed these values.
  static StoredResultPtr ResultOf(std::string_view source, std::vector<record::Observed> observed,
                                  const std::string& trust_domain = "main") {
    auto stored = std::make_shared<StoredResult>();
    stored->package = "/Game/a.txt";
    const record::Recipe recipe{
        .cooker = "copy", .identity = "1", .extension = "txt", .settings = "{}"};
    stored->recipe_bytes = record::EncodeRecipe(recipe);
    stored->recipe = record::RecipeDigest(recipe);
    stored->source = Digest::Of(source);
    stored->observed = std::move(observed);
    stored->action_key = *record::ActionKey({.recipe = recipe,
                                             .source = stored->source,
                                             .observed = stored->observed,
                                             .trust_domain = trust_domain});
    return stored;
  }
  void KeepRecord(const World& world, const StoredResultPtr& stored) {
    kept_.KeepRecords(world, std::span(&stored, 1));
  }
  absl::StatusOr<record::KeptAction> ReadBack(const StoredResultPtr& stored) {
    return record::ReadKeptAction(
        stored->action_key,
        [this](std::string_view, const Digest& digest) { return store_.inner.Get(digest); });
  }

  KeptSources kept_{store_, {.trust_domains = {"main", "ci"}}};
  Cancellation nobody_stops_;
};

TEST_F(KeptSourcesTest, AFileIsKeptWhenItIsFirstHashed) {
  Write("content/a.txt", "source");
  Write("content/b.txt", "not asked for");
  const WorldPtr world = MakeWorld();
  ASSERT_TRUE(KeepingSourcesOf(world)->DigestOf("/Game/a.txt", nullptr).ok());
  kept_.AwaitIdle(nobody_stops_);
  EXPECT_TRUE(Has("source"));
  EXPECT_FALSE(Has("not asked for"));
  EXPECT_EQ(store_.puts, 1);
  ASSERT_TRUE(KeepingSourcesOf(world)->DigestOf("/Game/a.txt", nullptr).ok());
  kept_.AwaitIdle(nobody_stops_);
  EXPECT_EQ(store_.puts, 1) << "it is kept";
}

TEST_F(KeptSourcesTest, AFileIsKeptThoughItsDigestWasKnown) {
  Write("content/a.txt", "source");
  const WorldPtr world = MakeWorld();
  ASSERT_TRUE(world->snapshot->DigestOf("/Game/a.txt").ok());  // by the difference, say
  ASSERT_TRUE(KeepingSourcesOf(world)->DigestOf("/Game/a.txt", nullptr).ok());
  kept_.AwaitIdle(nobody_stops_);
  EXPECT_TRUE(Has("source"));
}

TEST_F(KeptSourcesTest, AFileThatAWorkerReadIsKept) {
  Write("content/a.txt", "source");
  Write("content/inc.txt", "include");
  const WorldPtr world = MakeWorld();
  const SourcesPtr sources = KeepingSourcesOf(world);
  ASSERT_TRUE(sources->LearnDigest("/Game/a.txt", Digest::Of("source")).ok());
  ASSERT_TRUE(sources
                  ->Look({.kind = ObservationKind::kFile, .subject = "inc.txt", .detail = ""},
                         "/Game/a.txt")
                  .ok());
  kept_.AwaitIdle(nobody_stops_);
  EXPECT_TRUE(Has("source") && Has("include"));
}

TEST_F(KeptSourcesTest, NothingIsPutThatTheStoreHas) {
  Write("content/a.txt", "source");
  ASSERT_TRUE(store_.inner.Put(Digest::Of("source"), "source").ok());
  EXPECT_EQ(KeepFiles(*MakeWorld(), {"/Game/a.txt"}).files, 1u);
  EXPECT_EQ(store_.puts, 0);
}

TEST_F(KeptSourcesTest, EqualFilesArePutOnce) {
  Write("content/a.txt", "equal");
  Write("content/b.txt", "equal");
  const KeptSources::Kept kept = KeepFiles(*MakeWorld(), {"/Game/a.txt", "/Game/b.txt"});
  EXPECT_EQ(kept.files, 2u);
  EXPECT_EQ(kept.bytes, 10u);
  EXPECT_EQ(store_.puts, 1);
}

TEST_F(KeptSourcesTest, ALargeFileIsPutInPieces) {
  const std::string large(5 << 20, 'x');
  Write("content/a.txt", large);
  const KeptSources::Kept kept = KeepFiles(*MakeWorld(), {"/Game/a.txt"});
  EXPECT_EQ(kept.bytes, large.size());
  EXPECT_TRUE(Has(large));
}

TEST_F(KeptSourcesTest, TheEndDropsWhatWaitsAndWhatIsBeingPut) {
  Write("content/a.txt", "being put");
  Write("content/b.txt", "waits");
  absl::Notification is_asked, may_go_on;
  store_.on_find_missing = [&](std::span<const Digest>) {
    if (is_asked.HasBeenNotified()) return;
    is_asked.Notify();
    may_go_on.WaitForNotification();
  };
  const WorldPtr world = MakeWorld();
  kept_.KeepSoon(world, "/Game/a.txt", Digest::Of("being put"));
  is_asked.WaitForNotification();
  kept_.KeepSoon(world, "/Game/b.txt", Digest::Of("waits"));
  kept_.End();
  kept_.KeepSoon(world, "/Game/b.txt", Digest::Of("waits"));
  may_go_on.Notify();
  kept_.AwaitIdle(nobody_stops_);
  EXPECT_EQ(store_.puts, 0);
}

TEST_F(KeptSourcesTest, AFileThatChangesMeanwhileIsNotPutUnderAnotherDigest) {
  for (const size_t size : {6, 3 << 20}) {
    const std::string before(size, 'a'), after(size, 'b');
    Write("content/a.txt", before);
    const WorldPtr world = MakeWorld();
    ASSERT_TRUE(world->snapshot->DigestOf("/Game/a.txt").ok());
    Write("content/a.txt", after);
    EXPECT_EQ(KeepFiles(*world, {"/Game/a.txt"}).files, 0u);
    EXPECT_FALSE(Has(before) || Has(after));
    EXPECT_FALSE(kept_.TakeTrouble().has_value()) << "the next world has it";
  }
}

TEST_F(KeptSourcesTest, FailuresAreToldOnceAndTogether) {
  Write("content/a.txt", "a");
  Write("content/b.txt", "b");
  store_.put_error = absl::ResourceExhaustedError("the disk is full");
  const WorldPtr world = MakeWorld();
  EXPECT_EQ(KeepFiles(*world, {"/Game/a.txt", "/Game/b.txt"}).files, 0u);
  const auto trouble = kept_.TakeTrouble();
  ASSERT_TRUE(trouble.has_value());
  EXPECT_EQ(trouble->files, 2u);
  EXPECT_THAT(trouble->reason, HasSubstr("the disk is full"));
  EXPECT_FALSE(kept_.TakeTrouble().has_value());
  store_.put_error = absl::OkStatus();
  EXPECT_EQ(KeepFiles(*world, {"/Game/a.txt", "/Game/b.txt"}).files, 2u) << "tried again";
}

TEST_F(KeptSourcesTest, NoFurtherFileIsReadForAFullStore) {
  Write("content/a.txt", std::string(2 << 20, 'a'));
  Write("content/b.txt", std::string(2 << 20, 'b'));
  store_.put_error = absl::ResourceExhaustedError("the disk is full");
  EXPECT_EQ(KeepFiles(*MakeWorld(), {"/Game/a.txt", "/Game/b.txt"}).files, 0u);
  EXPECT_EQ(store_.puts, 1);
  EXPECT_EQ(kept_.TakeTrouble()->files, 2u);
}

TEST_F(KeptSourcesTest, EachFileThatIsNotKeptCountsOnce) {
  Write("content/a.txt", "small");
  Write("content/b.txt", std::string(2 << 20, 'b'));
  store_.put_error = absl::UnavailableError("the owner is gone");
  EXPECT_EQ(KeepFiles(*MakeWorld(), {"/Game/a.txt", "/Game/b.txt"}).files, 0u);
  EXPECT_EQ(kept_.TakeTrouble()->files, 2u);
}

TEST_F(KeptSourcesTest, LostBlobsArePutAgain) {
  Write("content/a.txt", "source");
  const WorldPtr world = MakeWorld();
  EXPECT_EQ(KeepFiles(*world, {"/Game/a.txt"}).files, 1u);
  store_.inner.Drop(Digest::Of("source"));
  EXPECT_EQ(KeepFiles(*world, {"/Game/a.txt"}).files, 1u);
  EXPECT_TRUE(Has("source"));
}

TEST_F(KeptSourcesTest, ARecordIsFoundAgainByItsKeyWithAllItsInputs) {
  Write("content/a.txt", "source");
  Write("content/inc.txt", "include");
  Write("tools/pack.py", "pack");
  const StoredResultPtr stored = ResultOf(
      "source", {{{ObservationKind::kFile, "absent.txt", ""}, "absent"},
                 {{ObservationKind::kFile, "inc.txt", ""}, Digest::Of("include").ToString()},
                 {{ObservationKind::kCooked, "b.png", ".ktx2"}, Digest::Of("an output").ToString()},
                 {{ObservationKind::kPlatform, "texture", ""}, "=bc"},
                 {{ObservationKind::kTool, "tools/pack.py", ""}, Digest::Of("pack").ToString()}});
  const WorldPtr world = MakeWorld();
  ASSERT_TRUE(world->snapshot->DigestOf("/Game/a.txt").ok()) << "known, and not kept yet";
  KeepRecord(*world, stored);
  EXPECT_TRUE(Has("source") && Has("include") && Has("pack"));
  const auto kept = ReadBack(stored);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->inputs.source, stored->source);
  EXPECT_EQ(kept->inputs.observed, stored->observed);
  const int puts = store_.puts;
  KeepRecord(*world, stored);
  EXPECT_EQ(store_.puts, puts);
}

// The store keeps for a session what it told the session of.
TEST_F(KeptSourcesTest, TheStoreIsAskedForInputsOfARecordThoughTheyAreKnown) {
  Write("content/a.txt", "source");
  const WorldPtr world = MakeWorld();
  EXPECT_EQ(KeepFiles(*world, {"/Game/a.txt"}).files, 1u);
  std::set<Digest> asked;
  store_.on_find_missing = [&](std::span<const Digest> digests) {
    asked.insert(digests.begin(), digests.end());
  };
  EXPECT_EQ(KeepFiles(*world, {"/Game/a.txt"}).files, 1u);
  EXPECT_TRUE(asked.empty());
  KeepRecord(*world, ResultOf("source", {}));
  EXPECT_TRUE(asked.contains(Digest::Of("source")));
}

// A worker read the include before it was edited.
TEST_F(KeptSourcesTest, AnInputThatIsALargerFileByNowIsNoTrouble) {
  Write("content/a.txt", "source");
  Write("content/inc.txt", std::string(2 << 20, 'x'));
  const StoredResultPtr stored =
      ResultOf("source", {{{ObservationKind::kFile, "inc.txt", ""}, Digest::Of("old").ToString()}});
  KeepRecord(*MakeWorld(), stored);
  EXPECT_FALSE(kept_.TakeTrouble().has_value());
  EXPECT_TRUE(HasBlob(stored->action_key) && Has("source"));
  EXPECT_FALSE(Has(std::string(2 << 20, 'x')));
}

TEST_F(KeptSourcesTest, ARecordOfAnotherTrustDomainThatIsReadIsKept) {
  Write("content/a.txt", "source");
  const WorldPtr world = MakeWorld();
  const StoredResultPtr of_ci = ResultOf("source", {}, "ci");
  const StoredResultPtr of_others = ResultOf("source", {}, "others");
  KeepRecord(*world, of_ci);
  KeepRecord(*world, of_others);
  EXPECT_EQ(ReadBack(of_ci)->inputs.trust_domain, "ci");
  EXPECT_FALSE(ReadBack(of_others).ok());
}

TEST_F(KeptSourcesTest, AVerdictHasNothingToMakeAgain) {
  Write("content/a.txt", "source");
  auto verdict = std::make_shared<StoredResult>(*ResultOf("source", {}));
  verdict->result = MakeVerdict("wrong");
  KeepRecord(*MakeWorld(), verdict);
  EXPECT_EQ(store_.puts, 0);
}

TEST_F(KeptSourcesTest, ARecordThatCouldNotBeKeptIsTriedAgain) {
  Write("content/a.txt", "source");
  const WorldPtr world = MakeWorld();
  const StoredResultPtr stored = ResultOf("source", {});
  store_.put_error = absl::ResourceExhaustedError("full");
  KeepRecord(*world, stored);
  EXPECT_FALSE(HasBlob(stored->action_key));
  store_.put_error = absl::OkStatus();
  KeepRecord(*world, stored);
  EXPECT_TRUE(HasBlob(stored->action_key));
  EXPECT_TRUE(Has("source"));
}

TEST_F(KeptSourcesTest, OffPutsNothing) {
  Write("content/a.txt", "source");
  ASSERT_TRUE(SourcesOf(MakeWorld())->DigestOf("/Game/a.txt", nullptr).ok());
  EXPECT_EQ(store_.puts, 0);
}

}  // namespace
}  // namespace galley::director
