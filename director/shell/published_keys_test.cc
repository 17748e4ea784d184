#include "director/shell/published_keys.h"

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

class PublishedKeysTest : public ShellJournalTest {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    JournalMeta meta = journal_->meta();
    meta.project_id = "p";
    ASSERT_TRUE(journal_->SetMeta(meta).ok());
    Cooked("/Game/a.txt", "a1");
    Cooked("/Game/b.txt", "b1");
  }

  void Cooked(const std::string& package, const std::string& key) {
    JournalUpdate update{.package = package, .platform = "windows"};
    update.record.action_key = Digest::Of(key);
    ASSERT_TRUE(journal_->Record({{update}}, true).ok());
  }
  static StoredResultPtr Result(const std::string& package, const std::string& key) {
    auto stored = std::make_shared<StoredResult>();
    stored->package = package;
    stored->action_key = Digest::Of(key);
    return stored;
  }
  // Publishes a root of `content`.
  PublishedIn Publish(const RootContent& content) {
    const PublishedIn in = PublishToStoreAlone();
    EXPECT_TRUE(RecordRoot(*journal_, "windows", in, content).ok());
    return in;
  }
  PublishedIn PublishToStoreAlone() {
    const std::string bytes = std::to_string(++roots_);
    const Digest root = Digest::Of(bytes);
    EXPECT_TRUE(store_.Put(root, bytes).ok());
    return {.sequence =
                store_.Publish({.project_id = "p", .platform = "windows", .root = root}).value(),
            .root = root};
  }
  PlatformRecord Record(const std::string& package) {
    return journal_->Find(package).value()->platforms.at("windows");
  }

  int roots_ = 0;
};

TEST_F(PublishedKeysTest, WhatACookByTheBookNoLongerHoldsIsInNoRoot) {
  const PublishedIn first = Publish(
      {.results = {Result("/Game/a.txt", "a1"), Result("/Game/b.txt", "b1")}, .by_the_book = true});
  EXPECT_EQ(Record("/Game/b.txt").published_key, Digest::Of("b1"));
  auto known = std::make_shared<StoredResult>(*Result("/Game/a.txt", "a1"));
  known->is_published = true;
  Publish({.results = {known}, .by_the_book = true});
  EXPECT_EQ(Record("/Game/a.txt").published_in, first) << "it is there since then";
  EXPECT_EQ(Record("/Game/b.txt").published_key, std::nullopt);
}

TEST_F(PublishedKeysTest, ANarrowerCookAddsAndTakesOutItsOwnFailures) {
  Cooked("/Game/c.txt", "c1");
  Publish(
      {.results = {Result("/Game/a.txt", "a1"), Result("/Game/b.txt", "b1")}, .by_the_book = true});
  Publish({.results = {Result("/Game/c.txt", "c1")}, .left_out = {"/Game/b.txt"}});
  EXPECT_EQ(Record("/Game/a.txt").published_key, Digest::Of("a1"));
  EXPECT_EQ(Record("/Game/b.txt").published_key, std::nullopt);
  EXPECT_EQ(Record("/Game/c.txt").published_key, Digest::Of("c1"));
}

// The director died after the store had the root and before the journal did. The keys in the
// journal belong to the root before: a package that differed in between would be "in the roots
// since" then.
TEST_F(PublishedKeysTest, OfARootThatADeadDirectorPublishedNoKeyIsKnown) {
  const PublishedIn first =
      Publish({.results = {Result("/Game/a.txt", "a1")}, .by_the_book = true});
  const Digest others = Digest::Of("others");
  ASSERT_TRUE(store_.Put(others, "others").ok());
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(store_.Publish({.project_id = "q", .platform = "windows", .root = others}).ok());
  ASSERT_TRUE(ForgetOvertakenKeys(store_, *journal_, {"windows", "android"}).ok());
  EXPECT_EQ(Record("/Game/a.txt").published_in, first) << "nothing of this project was overtaken";
  const PublishedIn second = PublishToStoreAlone();
  ASSERT_TRUE(ForgetOvertakenKeys(store_, *journal_, {"windows", "android"}).ok());
  EXPECT_EQ(Record("/Game/a.txt").published_key, std::nullopt);
  EXPECT_EQ(journal_->LastPublished("windows")->sequence, second.sequence);
}

TEST_F(PublishedKeysTest, OfAnotherStoreThatHasNoRootNoKeyIsKnown) {
  Publish({.results = {Result("/Game/a.txt", "a1")}, .by_the_book = true});
  WatchedStore other;
  ASSERT_TRUE(ForgetOvertakenKeys(other, *journal_, {"windows"}).ok());
  EXPECT_EQ(Record("/Game/a.txt").published_key, std::nullopt);
  EXPECT_EQ(journal_->LastPublished("windows")->sequence, 0u);
}

}  // namespace
}  // namespace galley::director
