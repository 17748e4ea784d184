// Leases on the disk, and against collections.
#include "common/store/interface/leases.h"

#include <filesystem>

#include "common/base/log.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/testing/gc_fixture.h"
#include "common/tree/linked_directory.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LeasesOnDiskTest : public GcTest {
 protected:
  absl::Time In(absl::Duration time) const { return absl::Now() + later_ + time; }

  // A session tree that nothing keeps, with a link that leads nowhere.
  Digest SessionTree(const std::vector<Digest>& files) {
    tree::LinkedDirectory node, root;
    for (size_t i = 0; i < files.size(); ++i)
      node.files.push_back({.name = fmt::format("{:04}", i), .digest = files[i]});
    const Digest resource = PutBytes(*store_, tree::EncodeLinkedDirectory(node));
    if (!files.empty()) root.directories.push_back({.name = "resource", .digest = resource});
    root.links.push_back({.name = "static", .target = "resource/later"});
    return PutBytes(*store_, tree::EncodeLinkedDirectory(root));
  }
  absl::Status Take(const std::string& name, const Digest& root,
                    absl::Duration time = absl::Hours(24 * 365)) {
    return store_->ChangeLeases({.taken = {{.name = name, .root = root, .until = In(time)}}});
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto leases = store_->Leases();
    EXPECT_TRUE(leases.ok()) << leases.status();
    for (const RootLease& lease : leases.value_or(std::vector<RootLease>()))
      names.push_back(lease.name);
    return names;
  }
  // Leaves nothing that is young or told.
  GcReport CollectOld() {
    Pass(absl::Hours(48));
    return Collect(kAll);
  }
};

TEST_F(LeasesOnDiskTest, WhatIsLeasedStaysUntilTheLeaseIsReleased) {
  const Digest file = Cook("file"), other = Cook("other"), root = SessionTree({file});
  ASSERT_TRUE(Take("tree/newest", root).ok());
  CollectOld();
  EXPECT_TRUE(Has(file) && Has(root));
  EXPECT_FALSE(Has(other));
  ASSERT_TRUE(store_->ChangeLeases({.released = {"tree/newest", "never taken"}}).ok());
  EXPECT_THAT(Names(), IsEmpty());
  CollectOld();
  EXPECT_FALSE(Has(file) || Has(root));
}

TEST_F(LeasesOnDiskTest, WhatIsLeasedStaysUntilItsTime) {
  const Digest file = Cook("file"), root = SessionTree({file});
  ASSERT_TRUE(Take("session", root, absl::Hours(49)).ok());
  CollectOld();
  EXPECT_TRUE(Has(file) && Has(root));
  EXPECT_THAT(Names(), ElementsAre("session"));
  CollectOld();
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_FALSE(Has(file) || Has(root));
}

TEST_F(LeasesOnDiskTest, ALeaseHoldsForTheNextOwnerAndWithoutTheIndex) {
  const Digest file = Cook("file"), root = SessionTree({file});
  ASSERT_TRUE(Take("session", root).ok());
  const std::vector<RootLease> before = store_->Leases().value();
  store_.reset();
  std::filesystem::remove_all(directory_ + "/index");
  Open();
  const std::vector<RootLease> after = store_->Leases().value();
  ASSERT_THAT(after, SizeIs(1));
  EXPECT_EQ(after[0].name, "session");
  EXPECT_EQ(after[0].root, root);
  EXPECT_LT(absl::AbsDuration(after[0].until - before[0].until), absl::Microseconds(1));
  CollectOld();
  EXPECT_TRUE(Has(file) && Has(root));
}

TEST_F(LeasesOnDiskTest, ALeaseOfTheSameNameIsReplaced) {
  const Digest old_file = Cook("old"), file = Cook("new");
  ASSERT_TRUE(Take("session", SessionTree({old_file})).ok());
  ASSERT_TRUE(Take("session", SessionTree({old_file, file})).ok());
  ASSERT_TRUE(Take("session", SessionTree({file})).ok());
  EXPECT_THAT(Names(), ElementsAre("session"));
  CollectOld();
  EXPECT_TRUE(Has(file));
  EXPECT_FALSE(Has(old_file));
}

TEST_F(LeasesOnDiskTest, AThousandLeasesAreOneFile) {
  const Digest root = SessionTree({Cook("file")});
  LeaseChanges changes;
  for (int i = 0; i < 1000; ++i) {
    changes.taken.push_back(
        {.name = fmt::format("s{:04}", i), .root = root, .until = In(absl::Hours(1))});
  }
  ASSERT_TRUE(store_->ChangeLeases(changes).ok());
  EXPECT_THAT(Names(), SizeIs(1000));
  const FileStat taken = *StatFile(LeasesPath(directory_));
  EXPECT_LT(taken.size_bytes, 200'000u);
  ASSERT_TRUE(store_->ChangeLeases(changes).ok());
  EXPECT_EQ(*StatFile(LeasesPath(directory_)), taken) << "nothing changed";
}

TEST_F(LeasesOnDiskTest, ARootThatIsAbsentTakesNoLease) {
  const Digest root = SessionTree({Cook("file")});
  const absl::Status absent = store_->ChangeLeases(
      {.taken = {{.name = "there", .root = root, .until = In(absl::Hours(1))},
                 {.name = "gone", .root = Digest::Of("gone"), .until = In(absl::Hours(1))}}});
  EXPECT_TRUE(absl::IsNotFound(absent)) << absent;
  EXPECT_THAT(std::string(absent.message()), HasSubstr("lease gone"));
  EXPECT_THAT(Names(), IsEmpty()) << "all or none";
  EXPECT_TRUE(absl::IsInvalidArgument(Take("a name", root)));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(LeasesOnDiskTest, ALeaseIsRenewedThoughItsRootWasLost) {
  const Digest lost = PutBytes(*store_, LargeBytes('L')), root = SessionTree({});
  ASSERT_TRUE(Take("session", lost).ok());
  std::filesystem::remove(BlobFilePath(directory_, lost));
  ASSERT_THAT(*store_->FindLost(std::vector<Digest>{lost}), ElementsAre(lost));
  const absl::Time until = In(absl::Hours(2));
  const absl::Status renewed =
      store_->ChangeLeases({.taken = {{.name = "session", .root = lost, .until = until},
                                      {.name = "other", .root = root, .until = until}}});
  EXPECT_TRUE(renewed.ok()) << renewed << ": one lost tree ends no other lease";
  EXPECT_THAT(Names(), ElementsAre("other", "session"));
  ASSERT_TRUE(store_->ChangeLeases({.released = {"session"}}).ok());
  EXPECT_TRUE(absl::IsNotFound(Take("session", lost)));
}

TEST_F(LeasesOnDiskTest, FoldersThatWereOnlyPutAreDurableWithTheLease) {
  const Digest root = SessionTree({Cook("file")});
  const uint64_t before = store_->Info()->commits;
  ASSERT_TRUE(Take("session", root).ok());
  const uint64_t after = store_->Info()->commits;
  EXPECT_GT(after, before) << "they were committed";
  ASSERT_TRUE(store_->ChangeLeases({.released = {"session"}}).ok());
  EXPECT_EQ(store_->Info()->commits, after) << "nothing was put";
}

TEST_F(LeasesOnDiskTest, MoreThanTheMostAreRefused) {
  const Digest root = SessionTree({});
  LeaseChanges changes;
  for (size_t i = 0; i <= kLeasesMax; ++i) {
    changes.taken.push_back(
        {.name = fmt::format("{}", i), .root = root, .until = In(absl::Hours(1))});
  }
  EXPECT_EQ(store_->ChangeLeases(changes).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Names(), IsEmpty());
  changes.taken.pop_back();
  EXPECT_TRUE(store_->ChangeLeases(changes).ok());
  EXPECT_EQ(Take("one-more", root).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Take("0", root).ok()) << "in place of an older lease";
  Pass(absl::Hours(2));
  EXPECT_TRUE(Take("one-more", root).ok()) << "the others have passed";
  EXPECT_THAT(Names(), SizeIs(2));
}

TEST_F(LeasesOnDiskTest, ADamagedListIsPutAsideAndBeginsAnew) {
  const Digest root = SessionTree({Cook("file")});
  ASSERT_TRUE(Take("session", root).ok());
  store_.reset();
  ASSERT_TRUE(WriteFileAtomic(LeasesPath(directory_), "galley-leases 1\nlease 5 x").ok());
  Open();
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_TRUE(FileExists(LeasesPath(directory_) + ".broken-1"));
  ASSERT_TRUE(Take("session", root).ok());
  EXPECT_THAT(Names(), ElementsAre("session"));
}

TEST_F(LeasesOnDiskTest, ADamagedSessionTreeEndsNoCollection) {
  const Digest file = Cook("file"), lost = Cook("lost"), other = Cook("other");
  tree::LinkedDirectory root;
  root.files.push_back({.name = "a", .digest = file});
  root.directories.push_back({.name = "b", .digest = Digest::Of("a folder that is absent")});
  root.directories.push_back({.name = "c", .digest = PutBytes(*store_, "no Directory at all")});
  root.directories.push_back({.name = "d", .digest = SessionTree({lost})});
  const Digest damaged = PutBytes(*store_, tree::EncodeLinkedDirectory(root));
  const Digest no_tree = PutBytes(*store_, "no tree at all");
  ASSERT_TRUE(Take("damaged", damaged).ok());
  ASSERT_TRUE(Take("no-tree", no_tree).ok());
  Pass(absl::Hours(48));
  std::vector<std::string> told;
  SetLogObserver([&](LogLevel, std::string_view line) {
    if (line.find("of lease") != std::string_view::npos) told.emplace_back(line);
  });
  const auto report = store_->Collect(kAll);
  SetLogObserver(nullptr);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(told, ElementsAre(HasSubstr("2 folders of the tree of lease damaged"),
                                HasSubstr("1 folder of the tree of lease no-tree")));
  EXPECT_TRUE(Has(file) && Has(lost) && Has(damaged)) << "what can be reached stays";
  EXPECT_FALSE(Has(other));
}

// A cooked tree goes on refusing links: nobody knows what such a root means.
TEST_F(LeasesOnDiskTest, APublishedRootWithLinksStillEndsACollection) {
  const Digest root = SessionTree({Cook("file")});
  ASSERT_TRUE(store_->Publish(SampleRoot("windows", root)).ok());
  Pass(absl::Hours(48));
  EXPECT_TRUE(absl::IsDataLoss(store_->Collect(kAll).status()));
}

TEST_F(LeasesOnDiskTest, WhySaysWhichLeaseKeepsIt) {
  const Digest file = Cook("file"), root = SessionTree({file});
  ASSERT_TRUE(Take("b", root).ok());
  ASSERT_TRUE(Take("a", root).ok());
  ASSERT_TRUE(Take("other", SessionTree({})).ok());
  ASSERT_TRUE(Take("passed", root, absl::Minutes(1)).ok());
  later_ += absl::Minutes(2);
  const WhyReport report = store_->Why(file, 20).value();
  ASSERT_THAT(report.leases, SizeIs(2));
  EXPECT_EQ(report.leases[0].lease.name, "a");
  EXPECT_EQ(report.leases[0].lease.root, root);
  EXPECT_EQ(report.leases[0].path, "resource/0000");
  EXPECT_EQ(report.leases[1].lease.name, "b");
  EXPECT_EQ(store_->Why(root, 20)->leases[0].path, "") << "itself";
  const WhyReport short_report = store_->Why(file, 1).value();
  EXPECT_THAT(short_report.leases, SizeIs(1));
  EXPECT_EQ(short_report.leases_more, 1u);
}

}  // namespace
}  // namespace galley::store
