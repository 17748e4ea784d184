#include "director/shell/snapshot_tables.h"

#include "common/base/repairs.h"
#include "common/content/testing/test_tree.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SnapshotTablesTest : public content::ContentTest {
 protected:
  void SetUp() override {
    ContentTest::SetUp();
    Write("content/a", "a");
    Save("snapshot-7.table", "id");
    TakeRepairs();
  }
  void Save(const std::string& name, const std::string& id) {
    ASSERT_TRUE(Scan()->WriteTable(Host(name), id).ok());
  }
  bool HasBase() const {
    return BaseTable(Host(""), {.table_file = "snapshot-7.table", .table_id = "id"}) != nullptr;
  }
};

TEST_F(SnapshotTablesTest, TheTableThatTheJournalNamesIsTheBase) {
  EXPECT_TRUE(HasBase());
  EXPECT_EQ(BaseTable(Host(""), {}), nullptr);
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(SnapshotTablesTest, ATableOfItsNameThatIsAnotherOneIsNotTheBase) {
  Save("snapshot-7.table", "that of a backup");
  EXPECT_FALSE(HasBase());
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("it is another one than the journal knows")));
}

TEST_F(SnapshotTablesTest, ADamagedTableIsNotTheBaseAndIsTold) {
  std::string bytes = ReadFile(Host("snapshot-7.table")).value();
  bytes[bytes.size() / 2] ^= 1;
  Write("snapshot-7.table", bytes);
  EXPECT_FALSE(HasBase());
  Write("snapshot-7.table", "");
  EXPECT_FALSE(HasBase());
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("it is damaged; every package was looked up")));
  ASSERT_TRUE(RemoveAll(Host("snapshot-7.table")).ok());
  EXPECT_FALSE(HasBase());
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("it is gone")));
}

TEST_F(SnapshotTablesTest, AFolderInItsPlaceIsMovedAsideAndStays) {
  ASSERT_TRUE(RemoveAll(Host("snapshot-7.table")).ok());
  Write("snapshot-7.table/mine", "a person's");
  EXPECT_FALSE(HasBase());
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("it is a folder"), HasSubstr("it is gone")));
  RemoveOldTables(Host(""), "snapshot-8.table");
  EXPECT_TRUE(FileExists(Host("snapshot-7.table.broken-1/mine")));
}

TEST_F(SnapshotTablesTest, ATermIsHigherThanThatOfEachTable) {
  EXPECT_EQ(NextTerm(Host(""), 9), 10u);
  EXPECT_EQ(NextTerm(Host(""), 0), 8u) << "a new journal, or an older one";
  Save("snapshot-12.3.table", "");
  Save("snapshot-4294967295.table", "");
  EXPECT_EQ(NextTerm(Host(""), 0), 13u);
}

TEST_F(SnapshotTablesTest, ATableThatAWorkerMayStillOpenStays) {
  Save("snapshot-9.table", "");
  RemoveOldTables(Host(""), "snapshot-7.table", absl::Now() - absl::Hours(1));
  EXPECT_TRUE(FileExists(Host("snapshot-9.table")));
  RemoveOldTables(Host(""), "snapshot-7.table", absl::Now() + absl::Hours(1));
  EXPECT_FALSE(FileExists(Host("snapshot-9.table")));
  EXPECT_TRUE(FileExists(Host("snapshot-7.table")));
}

TEST_F(SnapshotTablesTest, TheTableThatTheBaseStandsOnStays) {
  const auto first = Scan();
  ASSERT_TRUE(first->WriteTable(Host("snapshot-7.table"), "7").ok());
  Save("snapshot-6.table", "6");
  Write("content/a", "b");
  const std::vector<std::string> paths = {"/Game/a"};
  ASSERT_TRUE((*first->Refresh(paths))->WriteTable(Host("snapshot-8.table"), "8").ok());
  RemoveOldTables(Host(""), "snapshot-8.table");
  EXPECT_FALSE(FileExists(Host("snapshot-6.table")));
  const auto base = BaseTable(Host(""), {.table_file = "snapshot-8.table", .table_id = "8"});
  ASSERT_NE(base, nullptr);
  EXPECT_EQ(base->DigestOf("/Game/a").value(), Digest::Of("b"));
}

TEST_F(SnapshotTablesTest, OldTablesAreRemoved) {
  Save("snapshot-9.table", "");
  Write("snapshot-9.table.Xy1z2w", "cut short");
  Write("snapshots", "of somebody");
  RemoveOldTables(Host(""), "snapshot-7.table");
  EXPECT_TRUE(FileExists(Host("snapshot-7.table")));
  EXPECT_TRUE(FileExists(Host("snapshots")));
  EXPECT_FALSE(FileExists(Host("snapshot-9.table")));
  EXPECT_FALSE(FileExists(Host("snapshot-9.table.Xy1z2w")));
}

}  // namespace
}  // namespace galley::director
