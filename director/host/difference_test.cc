#include "director/host/difference.h"

#include "director/shell/shell_test_world.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DifferenceTest : public ShellJournalTest {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    cook_.state_directory = Host("state");
    for (const char* name : {"a.txt", "b.txt"}) Write(std::string("content/") + name, name);
  }
  // Applies the next cook's difference; then cooks all packages, each from its own file.
  void Cook() {
    const absl::Status applied = Apply();
    EXPECT_TRUE(applied.ok()) << applied;
    for (const char* name : {"/Game/a.txt", "/Game/b.txt"}) {
      JournalUpdate update{.package = name, .platform = "windows"};
      update.record.result = record::EncodeResult({});
      EXPECT_TRUE(journal_->Record(std::span(&update, 1), true).ok());
    }
  }
  absl::Status Apply() {
    World world = *MakeWorld();
    ++cook_.term;
    return ApplyDifference(cook_, store_, *journal_, world);
  }
  std::vector<std::string> Untrusted() {
    std::vector<std::string> names;
    EXPECT_TRUE(journal_
                    ->ForEach([&](std::string_view name, const PackageRecord& record) {
                      if (!record.platforms.at("windows").is_trusted) names.emplace_back(name);
                    })
                    .ok());
    return names;
  }

  DifferenceOptions cook_{.project_id = "p", .trust_domain = "all"};
};

TEST_F(DifferenceTest, WhatLookedAtAChangedFileIsNotTrusted) {
  Cook();
  EXPECT_TRUE(Apply().ok());
  EXPECT_THAT(Untrusted(), IsEmpty());
  Write("content/a.txt", "another text");
  EXPECT_TRUE(Apply().ok());
  EXPECT_THAT(Untrusted(), ElementsAre("/Game/a.txt"));
}

TEST_F(DifferenceTest, TheJournalNamesTheNewTable) {
  Cook();
  const JournalMeta first = journal_->meta();
  EXPECT_TRUE(FileExists(JoinPath(Host("state"), first.table_file)));
  Cook();
  EXPECT_EQ(journal_->meta().project_id, "p");
  EXPECT_EQ(journal_->meta().term, cook_.term);
  EXPECT_NE(journal_->meta().table_file, first.table_file);
}

TEST_F(DifferenceTest, ATableOfTheSameFilesHasTheSameIdSoThatWhatOthersLeftStands) {
  Cook();
  const JournalMeta first = journal_->meta();
  Cook();
  EXPECT_NE(journal_->meta().table_file, first.table_file);
  EXPECT_EQ(journal_->meta().table_id, first.table_id);
  const auto id_now = [&] {
    EXPECT_TRUE(Apply().ok());
    return journal_->meta().table_id;
  };
  Write("content/a.txt", "another text");
  const std::string edited = id_now();
  EXPECT_NE(edited, first.table_id);
  Write("content/new.txt", "new");
  const std::string with_new = id_now();
  EXPECT_NE(with_new, edited);
  Write("content/out/.galley-sandbox", "");
  EXPECT_NE(id_now(), with_new) << "a scan says something else of the files";
}

TEST_F(DifferenceTest, TheTableOfAnotherStoreOrOfNoneHasANewId) {
  Cook();
  const std::string first = journal_->meta().table_id;
  cook_.trust_domain = "other";
  EXPECT_TRUE(Apply().ok());
  EXPECT_NE(journal_->meta().table_id, first);
  const std::string other = journal_->meta().table_id;
  ASSERT_TRUE(RemoveAll(JoinPath(Host("state"), journal_->meta().table_file)).ok());
  EXPECT_TRUE(Apply().ok());
  EXPECT_NE(journal_->meta().table_id, other);
}

TEST_F(DifferenceTest, WithoutTheLastTableNothingIsTrusted) {
  Cook();
  ASSERT_TRUE(RemoveAll(JoinPath(Host("state"), journal_->meta().table_file)).ok());
  EXPECT_TRUE(Apply().ok());
  EXPECT_THAT(Untrusted(), ElementsAre("/Game/a.txt", "/Game/b.txt"));
}

TEST_F(DifferenceTest, InAnotherTrustDomainNothingIsTrusted) {
  Cook();
  cook_.trust_domain = "other";
  EXPECT_TRUE(Apply().ok());
  EXPECT_THAT(Untrusted(), ElementsAre("/Game/a.txt", "/Game/b.txt"));
}

TEST_F(DifferenceTest, ATableThatCannotBeWrittenChangesNothing) {
  Cook();
  const JournalMeta before = journal_->meta();
  cook_.state_directory = Host("none");
  EXPECT_TRUE(absl::IsUnavailable(Apply()));
  EXPECT_EQ(journal_->meta().table_file, before.table_file);
  EXPECT_THAT(Untrusted(), IsEmpty());
}

}  // namespace
}  // namespace galley::director
