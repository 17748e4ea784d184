#include "director/journal/journal.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/rocks/rocks.h"
#include "director/journal/index.h"
#include "director/journal/keys.h"
#include "director/journal/rocks_journal.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(::testing::TempDir(), "journal").value();
  }
  void TearDown() override {
    journal_.reset();
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }

  void Open() { journal_ = Journal::Open(folder_).value(); }
  void Reopen() {
    journal_.reset();
    Open();
  }

  static JournalUpdate Update(std::string package, std::string platform,
                              std::string result = "result") {
    JournalUpdate update{.package = std::move(package), .platform = std::move(platform)};
    update.record.result = std::move(result);
    update.record.action_key = Digest::Of(update.record.result);
    update.record.observed = {{{record::ObservationKind::kFile, "inc.glsl", ""}, "absent"}};
    return update;
  }
  void Record(const JournalUpdate& update) { ASSERT_TRUE(journal_->Record({{update}}, true).ok()); }
  PackageRecord Find(std::string_view package) { return journal_->Find(package).value().value(); }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    EXPECT_TRUE(
        journal_->ForEach([&](std::string_view name, PackageRecord) { names.emplace_back(name); })
            .ok());
    return names;
  }
  // Changes the database behind the journal's back.
  void Spoil(std::string_view key, std::string_view value) {
    journal_.reset();
    const auto database = OpenDatabase(folder_, {}).value();
    ASSERT_TRUE(
        database->Put(rocksdb::WriteOptions(), rocks::ToSlice(key), rocks::ToSlice(value)).ok());
  }
  bool HasBroken(int n) const {
    return FileExists(fmt::format("{}/journal.broken-{}", folder_, n));
  }

  std::string folder_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(JournalTest, ANewJournalIsEmpty) {
  Open();
  EXPECT_EQ(journal_->meta().project_id, "");
  EXPECT_FALSE(journal_->Find("/G/a").value().has_value());
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(JournalTest, EverythingIsThereAfterReopening) {
  Open();
  ASSERT_TRUE(
      journal_->SetMeta(JournalMeta{.project_id = "p", .loss_epoch = 9, .table_file = "t"}).ok());
  Record(Update("/G/b", "windows"));
  Record(Update("/G/a", "linux", "one"));
  Record(Update("/G/a", "windows", "two"));
  ASSERT_TRUE(
      journal_->RecordInstigators({{{"/G/a", {{.category = 5, .referencer = "/G/b"}}}}}).ok());
  ASSERT_TRUE(
      journal_->RecordPublished("linux", {7, Digest::Of("root")}, {{{"/G/a", Digest::Of("one")}}})
          .ok());
  Reopen();
  EXPECT_EQ(journal_->meta().project_id, "p");
  EXPECT_EQ(journal_->meta().loss_epoch, 9u);
  EXPECT_EQ(journal_->meta().table_file, "t");
  EXPECT_THAT(Names(), ElementsAre("/G/a", "/G/b"));
  const PackageRecord a = Find("/G/a");
  EXPECT_EQ(a.platforms.size(), 2u);
  EXPECT_EQ(a.platforms.at("linux").result, "one");
  EXPECT_EQ(a.platforms.at("windows").result, "two");
  EXPECT_TRUE(a.platforms.at("linux").is_trusted);
  EXPECT_EQ(a.platforms.at("linux").published_key, Digest::Of("one"));
  EXPECT_EQ(a.platforms.at("linux").published_in, (PublishedIn{7, Digest::Of("root")}));
  EXPECT_EQ(a.platforms.at("windows").published_key, std::nullopt);
  EXPECT_THAT(a.instigators, ElementsAre(InstigatorRecord{.category = 5, .referencer = "/G/b"}));
}

TEST_F(JournalTest, ForEachSeesWhatFindSees) {
  Open();
  for (const char* package : {"/G/a", "/G/a.b", "/G/a/b", "/G/ab"})
    Record(Update(package, "linux", package));
  ASSERT_TRUE(journal_->Invalidate({{"/G/a"}}, {}).ok());
  std::vector<std::string> names;
  ASSERT_TRUE(journal_
                  ->ForEach([&](std::string_view name, PackageRecord record) {
                    names.emplace_back(name);
                    ASSERT_EQ(record.platforms.size(), 1u);
                    EXPECT_EQ(record.platforms.at("linux").result, name);
                    EXPECT_EQ(record.platforms.at("linux").is_trusted, name != "/G/a");
                  })
                  .ok());
  EXPECT_THAT(names, ElementsAre("/G/a", "/G/a.b", "/G/a/b", "/G/ab"));
}

TEST_F(JournalTest, InvalidateDistrustsAllPlatformsAndRecordTrustsItsOwn) {
  Open();
  Record(Update("/G/a", "linux"));
  Record(Update("/G/a", "windows"));
  ASSERT_TRUE(journal_->Invalidate({{"/G/a", "/G/unknown"}}, {}).ok());
  EXPECT_FALSE(Find("/G/a").platforms.at("linux").is_trusted);
  EXPECT_FALSE(Find("/G/a").platforms.at("windows").is_trusted);
  Record(Update("/G/a", "linux"));
  EXPECT_TRUE(Find("/G/a").platforms.at("linux").is_trusted);
  EXPECT_FALSE(Find("/G/a").platforms.at("windows").is_trusted);
  EXPECT_FALSE(journal_->Find("/G/unknown").value().has_value());
}

// The crash rule: a director that dies right after Invalidate (no destructor runs) leaves the
// affected packages distrusted and the new table named.
TEST_F(JournalTest, AfterACrashTheNewTableAndTheDistrustAreBothThere) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer starts no threads after the fork of a process that had some";
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    auto journal = Journal::Open(folder_);
    const JournalUpdate update = Update("/G/a", "linux");
    const bool is_done =
        journal.ok() && (*journal)->Record({{update}}, true).ok() &&
        (*journal)->Invalidate({{"/G/a"}}, JournalMeta{.table_file = "table-2"}).ok();
    ::_exit(is_done ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  Open();
  EXPECT_EQ(journal_->meta().table_file, "table-2");
  EXPECT_FALSE(Find("/G/a").platforms.at("linux").is_trusted);
}

TEST_F(JournalTest, TheLaterOfTwoUpdatesOfOneRecordHolds) {
  Open();
  ASSERT_TRUE(
      journal_
          ->Record({{Update("/G/a", "linux", "first"), Update("/G/a", "linux", "second")}}, false)
          .ok());
  EXPECT_EQ(Find("/G/a").platforms.at("linux").result, "second");
}

TEST_F(JournalTest, ARecordSaysItsPublishedKeyAndPublishingReplacesIt) {
  Open();
  JournalUpdate update = Update("/G/a", "linux");
  update.record.published_key = Digest::Of("old");
  Record(update);
  EXPECT_EQ(Find("/G/a").platforms.at("linux").published_key, Digest::Of("old"));
  ASSERT_TRUE(
      journal_->RecordPublished("linux", {7, Digest::Of("root")}, {{{"/G/a", Digest::Of("new")}}})
          .ok());
  EXPECT_EQ(Find("/G/a").platforms.at("linux").published_key, Digest::Of("new"));
  ASSERT_TRUE(
      journal_->RecordPublished("linux", {7, Digest::Of("root")}, {{{"/G/a", std::nullopt}}}).ok());
  EXPECT_EQ(Find("/G/a").platforms.at("linux").published_key, std::nullopt);
}

TEST_F(JournalTest, WhatAnEmptyJournalLearnsIsFoundAtOnce) {
  Open();
  EXPECT_TRUE(journal_->WasEmpty());
  for (const char* package : {"/G/a", "/G/b", "/G/c", "/G/d"})
    EXPECT_FALSE(journal_->Find(package).value().has_value());
  const FailureRecord failure{.cook = 3, .stage = "save", .error = "crashed", .cause = "package"};
  Record(Update("/G/a", "linux"));
  ASSERT_TRUE(journal_->RecordInstigators({{{"/G/b", {{.category = 5}}}}}).ok());
  ASSERT_TRUE(journal_->RecordFailures({{{"/G/c", "linux", failure}}}).ok());
  EXPECT_EQ(Find("/G/a").platforms.size(), 1u);
  EXPECT_EQ(Find("/G/b").instigators.size(), 1u);
  EXPECT_EQ(Find("/G/c").failures.size(), 1u);
  EXPECT_FALSE(journal_->Find("/G/d").value().has_value());
  // Marks and failures are replaced, though the journal was empty at the opening.
  ASSERT_TRUE(journal_->Invalidate({{"/G/a"}}, {}).ok());
  Record(Update("/G/a", "linux"));
  Record(Update("/G/c", "linux"));
  EXPECT_TRUE(Find("/G/a").platforms.at("linux").is_trusted);
  EXPECT_TRUE(Find("/G/c").failures.empty());
  Reopen();
  EXPECT_FALSE(journal_->WasEmpty());
  EXPECT_EQ(Find("/G/b").instigators.size(), 1u);
}

TEST_F(JournalTest, PackagesWithAPublishedKeyAreFoundByPlatform) {
  Open();
  const PublishedIn in = {7, Digest::Of("root")};
  const auto key = Digest::Of("key");
  Record(Update("/G/a", "linux"));
  ASSERT_TRUE(journal_->RecordPublished("linux", in, {{{"/G/b", key}, {"/G/a", key}}}).ok());
  ASSERT_TRUE(journal_->RecordPublished("mac", in, {{{"/G/c", key}}}).ok());
  EXPECT_THAT(journal_->PublishedPackages("linux").value(), ElementsAre("/G/a", "/G/b"));
  ASSERT_TRUE(journal_->RecordPublished("linux", in, {{{"/G/a", std::nullopt}}}).ok());
  EXPECT_THAT(journal_->PublishedPackages("linux").value(), ElementsAre("/G/b"));
  EXPECT_THAT(journal_->PublishedPackages("phone").value(), ElementsAre());
}

TEST_F(JournalTest, InstigatorsAloneAreThoseOfTheRecord) {
  Open();
  const std::vector<InstigatorRecord> reasons = {{.category = 5, .referencer = "/G/b"}};
  ASSERT_TRUE(journal_->RecordInstigators({{{"/G/a", reasons}}}).ok());
  EXPECT_EQ(journal_->InstigatorsOf("/G/a").value(), reasons);
  EXPECT_THAT(journal_->InstigatorsOf("/G/unknown").value(), ElementsAre());
}

TEST_F(JournalTest, AFailureStaysUntilItsPlatformIsDoneOrRecorded) {
  Open();
  const FailureRecord failure{.cook = 3, .stage = "save", .error = "crashed", .cause = "package"};
  ASSERT_TRUE(
      journal_->RecordFailures({{{"/G/a", "linux", failure}, {"/G/a", "mac", failure}}}).ok());
  EXPECT_EQ(Find("/G/a").failures.at("linux"), failure) << "though it has no record";
  ASSERT_TRUE(journal_->RecordFailures({{{"/G/a", "mac", std::nullopt}}}).ok());
  EXPECT_EQ(Find("/G/a").failures.size(), 1u);
  Record(Update("/G/a", "linux"));
  EXPECT_EQ(Find("/G/a").failures.size(), 0u);
}

TEST_F(JournalTest, TheSequenceOfTheLastRootIsKeptForEachPlatform) {
  Open();
  EXPECT_EQ(journal_->LastPublished("linux")->sequence, 0u);
  ASSERT_TRUE(journal_->RecordPublished("linux", {7, Digest::Of("root")}, {}).ok());
  ASSERT_TRUE(journal_->RecordPublished("phone", {300, Digest::Of("root")}, {}).ok());
  Reopen();
  EXPECT_EQ(journal_->LastPublished("linux")->sequence, 7u);
  EXPECT_EQ(journal_->LastPublished("phone")->sequence, 300u);
}

AttemptRecord Attempt(uint64_t attempt, std::string package) {
  return {.attempt = attempt,
          .worker = "local-1",
          .package = std::move(package),
          .targets = {{.name = "linux", .recipe = Digest::Of("recipe")}}};
}

TEST_F(JournalTest, WhatACookThatDiedGaveAndBlamedIsThereUntilACookEnds) {
  Open();
  const AttemptRecord first = Attempt(uint64_t{1} << 40 | 255, "/G/a");
  const AttemptRecord second = Attempt(uint64_t{2} << 40 | 1, "/G/b");
  const BlameRecord blame{.package = "/G/a", .own_faults = 2, .what = "crashed"};
  ASSERT_TRUE(journal_->RecordProgress({.given = {second, first}, .blamed = {blame}}).ok());
  Reopen();
  EXPECT_THAT(journal_->Progress()->given, ElementsAre(first, second));
  EXPECT_THAT(journal_->Progress()->blamed, ElementsAre(blame));
  ASSERT_TRUE(journal_->RecordProgress({.over = {first.attempt, 77}}).ok());
  EXPECT_THAT(journal_->Progress()->given, ElementsAre(second));
  EXPECT_FALSE(journal_->Find("/G/a").value().has_value());
  ASSERT_TRUE(journal_->ForgetProgress().ok());
  Reopen();
  EXPECT_TRUE(journal_->Progress()->empty());
}

TEST_F(JournalTest, APackageWhoseFilesChangedOrThatIsForgottenIsForgiven) {
  Open();
  ASSERT_TRUE(journal_
                  ->RecordProgress({.blamed = {{.package = "/G/a", .own_faults = 1},
                                               {.package = "/G/b", .own_faults = 2},
                                               {.package = "/G/c", .own_faults = 3}}})
                  .ok());
  ASSERT_TRUE(journal_->Invalidate({{"/G/a"}}, {}).ok());
  ASSERT_TRUE(journal_->Forget({{"/G/c"}}).ok());
  ASSERT_EQ(journal_->Progress()->blamed.size(), 1u);
  EXPECT_EQ(journal_->Progress()->blamed[0].package, "/G/b");
  ASSERT_TRUE(journal_->RecordProgress({.blamed = {{.package = "/G/b", .own_faults = 0}}}).ok());
  EXPECT_TRUE(journal_->Progress()->empty());
}

TEST_F(JournalTest, DamagedProgressIsNoneAndANewJournalIsBegun) {
  Open();
  for (const auto& [key, value] : {std::pair<std::string, std::string>(AttemptKey(1), "\xff"),
                                   {std::string("A") + "short", ""},
                                   {BlameKey("/G/a"), "\xff"}}) {
    Spoil(key, value);
    Open();
    EXPECT_TRUE(journal_->Progress()->empty());
    EXPECT_TRUE(journal_->MadeAnew());
    Reopen();
    EXPECT_TRUE(journal_->Progress()->empty());
  }
  EXPECT_TRUE(HasBroken(3));
}

TEST_F(JournalTest, AForgottenPackageIsGoneAndItsNeighboursStay) {
  Open();
  for (const char* package : {"/G/a", "/G/a.b", "/G/ab"}) Record(Update(package, "linux"));
  ASSERT_TRUE(journal_->RecordInstigators({{{"/G/a", {{.category = 1}}}}}).ok());
  ASSERT_TRUE(journal_->Forget({{"/G/a", "/G/unknown"}}).ok());
  EXPECT_FALSE(journal_->Find("/G/a").value().has_value());
  EXPECT_THAT(Names(), ElementsAre("/G/a.b", "/G/ab"));
}

TEST_F(JournalTest, InstigatorsAreReplacedAndVanishWhenEmpty) {
  Open();
  ASSERT_TRUE(journal_->RecordInstigators({{{"/G/a", {{.category = 1}, {.category = 2}}}}}).ok());
  EXPECT_EQ(Find("/G/a").instigators.size(), 2u);
  ASSERT_TRUE(journal_->RecordInstigators({{{"/G/a", {}}}}).ok());
  EXPECT_FALSE(journal_->Find("/G/a").value().has_value());
}

TEST_F(JournalTest, NamesThatCannotBeKeysAreRefusedAndNothingIsWritten) {
  Open();
  EXPECT_TRUE(absl::IsInvalidArgument(
      journal_->Record({{Update("/G/a", "linux"), Update("", "linux")}}, false)));
  EXPECT_TRUE(
      absl::IsInvalidArgument(journal_->Record({{Update("/G/a", std::string("l\0x", 3))}}, false)));
  JournalUpdate unsent = Update(std::string("/G/\0b", 5), "linux");
  EXPECT_TRUE(absl::IsInvalidArgument(journal_->Record({{unsent}}, false)));
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(JournalTest, WithoutSpaceNothingIsWrittenAndTheErrorSaysSo) {
  uint64_t free = 1000;
  const JournalOptions options{.free_bytes_min = 1001, .free_bytes = [&] { return free; }};
  EXPECT_TRUE(absl::IsResourceExhausted(OpenJournal(folder_, options).status()));
  EXPECT_FALSE(FileExists(JoinPath(folder_, "journal")));
  free = 100'000;
  journal_ = OpenJournal(folder_, options).value();
  Record(Update("/G/a", "linux", "old"));
  free = 1100;  // room for the margin, but not for this batch
  const absl::Status status = journal_->Record({{Update("/G/a", "linux", "new")}}, true);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_));
  free = 1000;
  EXPECT_TRUE(absl::IsResourceExhausted(journal_->SetMeta(JournalMeta{.table_file = "new"})));
  EXPECT_EQ(journal_->meta().table_file, "");
  EXPECT_EQ(Find("/G/a").platforms.at("linux").result, "old");
  free = 100'000;
  Record(Update("/G/a", "linux", "new"));
  EXPECT_EQ(Find("/G/a").platforms.at("linux").result, "new");
}

// Descriptors run out at each step of the opening, one step after the other.
TEST_F(JournalTest, WithTooFewDescriptorsNothingIsMovedAside) {
  Open();
  Record(Update("/G/a", "linux"));
  Reopen();  // so that there is a table
  Record(Update("/G/b", "linux"));
  journal_.reset();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  bool is_open = false;
  for (rlim_t few = 3; !is_open && few < 256; ++few) {
    const rlimit limit{.rlim_cur = few, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    absl::Status status;
    {
      const auto journal = Journal::Open(folder_);
      status = journal.status();
      if (journal.ok()) status = (*journal)->Find("/G/a").status();
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(HasBroken(1)) << few << ": " << status;
    EXPECT_FALSE(absl::IsDataLoss(status)) << few << ": " << status;
    is_open = status.ok();
  }
  EXPECT_TRUE(is_open);
  Open();
  EXPECT_THAT(Names(), ElementsAre("/G/a", "/G/b"));
}

TEST_F(JournalTest, AJournalOfAnotherVersionIsMovedAside) {
  Open();
  Record(Update("/G/a", "linux"));
  Spoil(kVersionKey, "999");
  Open();
  EXPECT_TRUE(HasBroken(1));
  EXPECT_THAT(Names(), ElementsAre());
  Spoil(kVersionKey, "0");
  Open();
  EXPECT_TRUE(HasBroken(2));
}

TEST_F(JournalTest, AJournalThatRocksDbCannotOpenIsMovedAside) {
  Open();
  Record(Update("/G/a", "linux"));
  journal_.reset();
  ASSERT_TRUE(WriteFileAtomic(JoinPath(folder_, "journal/CURRENT"), "rubbish").ok());
  Open();
  EXPECT_TRUE(HasBroken(1));
  EXPECT_THAT(Names(), ElementsAre());
  Record(Update("/G/a", "linux"));
}

TEST_F(JournalTest, AJournalWithoutItsManifestIsMovedAside) {
  Open();
  Record(Update("/G/a", "linux"));
  journal_.reset();
  for (const auto& entry : fs::directory_iterator(JoinPath(folder_, "journal"))) {
    if (entry.path().filename().string().starts_with("MANIFEST")) fs::remove(entry.path());
  }
  Open();
  EXPECT_TRUE(HasBroken(1));
}

TEST_F(JournalTest, AFileInItsPlaceIsMovedAside) {
  ASSERT_TRUE(WriteFileAtomic(JoinPath(folder_, "journal"), "not a folder").ok());
  Open();
  EXPECT_TRUE(HasBroken(1));
}

TEST_F(JournalTest, ADamagedMetaMovesTheJournalAside) {
  Open();
  Spoil(kMetaKey, "\xff");
  Open();
  EXPECT_TRUE(HasBroken(1));
  EXPECT_EQ(journal_->meta().table_file, "");
}

TEST_F(JournalTest, ADamagedRecordIsUnknownAndANewJournalIsBegun) {
  Open();
  Record(Update("/G/a", "linux"));
  Spoil(PackageKey("/G/a", kRecordTag, "linux"), "\xff");
  Open();
  EXPECT_FALSE(HasBroken(1));
  TakeRepairs();
  EXPECT_TRUE(journal_->ForEach([](std::string_view, PackageRecord) {}).ok());
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("/G/a")));
  EXPECT_TRUE(HasBroken(1));
  EXPECT_THAT(Names(), ElementsAre());
  Reopen();
  EXPECT_FALSE(HasBroken(2));
}

TEST_F(JournalTest, ASecondWriterIsUnavailableAndNothingIsMoved) {
  Open();
  EXPECT_TRUE(absl::IsUnavailable(Journal::Open(folder_).status()));
  EXPECT_FALSE(HasBroken(1));
}

TEST_F(JournalTest, AReaderSeesWhatTheLivingDirectorRecorded) {
  Open();
  ASSERT_TRUE(journal_->SetMeta(JournalMeta{.project_id = "p"}).ok());
  Record(Update("/G/a", "linux"));
  const auto reader = Journal::Open(folder_, true).value();
  EXPECT_EQ(reader->meta().project_id, "p");
  EXPECT_TRUE(reader->Find("/G/a").value().has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition(reader->Record({{Update("/G/b", "linux")}}, true)));
  EXPECT_TRUE(absl::IsFailedPrecondition(reader->SetMeta({})));
}

TEST_F(JournalTest, AReaderOfNoJournalIsToldSoAndMakesNone) {
  EXPECT_TRUE(absl::IsNotFound(Journal::Open(folder_, true).status()));
  EXPECT_FALSE(FileExists(JoinPath(folder_, "journal")));
}

TEST_F(JournalTest, ManyRecordsAreScannedInOrder) {
  Open();
  std::vector<JournalUpdate> updates;
  for (int i = 0; i < 20'000; ++i) {
    updates.push_back(
        Update(fmt::format("/G/props/object_{:06}.png", i), "linux", std::string(300, 'r')));
    updates.back().record.recipe_bytes = std::string(200, 'x');
  }
  ASSERT_TRUE(journal_->Record(updates, false).ok());
  const absl::Time begin = absl::Now();
  size_t count = 0;
  std::string before;
  ASSERT_TRUE(journal_
                  ->ForEach([&](std::string_view name, PackageRecord) {
                    EXPECT_LT(before, name);
                    before.assign(name);
                    ++count;
                  })
                  .ok());
  EXPECT_EQ(count, 20'000u);
  RecordProperty("scan_us", static_cast<int>(absl::ToInt64Microseconds(absl::Now() - begin)));
}

TEST_F(JournalTest, AskedPathsAreIndexedJoinedToThePackagesFolder) {
  using record::ObservationKind;
  const std::vector<record::Observed> observed = {
      {{ObservationKind::kFile, "../inc/a.glsl", ""}, "absent"},
      {{ObservationKind::kFile, "/E/b", ""}, "absent"},
      {{ObservationKind::kExists, "c", ""}, "absent"},
      {{ObservationKind::kFile, "../../../out", ""}, "absent"},
      {{ObservationKind::kList, "d", ""}, "absent"},
      {{ObservationKind::kGlob, "/E", "*.x"}, ""},
      {{ObservationKind::kCooked, "in.png", ".ktx2"}, "absent"},
      {{ObservationKind::kTool, "tools/t", ""}, "absent"},
      {{ObservationKind::kEnv, "HOME", ""}, "unset"},
      {{ObservationKind::kFile, "x.frag", ""}, "absent"}};
  IndexEntries entries;
  AddEntriesOf("/G/s/x.frag", observed, entries);
  EXPECT_THAT(entries.paths, ElementsAre("/E/b", "/G/inc/a.glsl", "/G/s/c"));
  EXPECT_THAT(entries.folders, ElementsAre("/E", "/G/s/d"));
  EXPECT_THAT(entries.cooked_inputs, ElementsAre("/G/s/in.png"));
}

TEST_F(JournalTest, OneDirectorHoldsTheProject) {
  auto lock = ProjectLock::TryAcquire(folder_);
  ASSERT_TRUE(lock.ok());
  const absl::Status second = ProjectLock::TryAcquire(folder_).status();
  EXPECT_TRUE(absl::IsAlreadyExists(second));
  EXPECT_THAT(std::string(second.message()), HasSubstr(fmt::format("process {}", ::getpid())));
  lock->reset();
  EXPECT_TRUE(ProjectLock::TryAcquire(folder_).ok());
}

// A query looks whether a director runs, and keeps none away for longer than that.
TEST_F(JournalTest, WorkThatNeedsNoDirectorRunsWhereThereIsNone) {
  int runs = 0;
  const auto count = [&] {
    ++runs;
    return absl::OkStatus();
  };
  EXPECT_TRUE(ProjectLock::WhileFree(JoinPath(folder_, "none"), count).ok());
  EXPECT_FALSE(FileExists(JoinPath(folder_, "none")));
  auto lock = ProjectLock::TryAcquire(folder_);
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(absl::IsUnavailable(ProjectLock::WhileFree(folder_, count)));
  EXPECT_EQ(runs, 1);
  lock->reset();
  std::thread director;
  absl::Notification is_there;
  EXPECT_TRUE(ProjectLock::WhileFree(folder_, [&] {
                director = std::thread([&] {
                  is_there.Notify();
                  EXPECT_TRUE(ProjectLock::TryAcquire(folder_).ok());
                });
                is_there.WaitForNotification();
                return count();
              }).ok());
  director.join();
  EXPECT_EQ(runs, 2);
}

TEST_F(JournalTest, WhoWasRobbedOfTheLockSeesItEvenWhenTheRobberIsGone) {
  auto lock = ProjectLock::TryAcquire(folder_).value();
  EXPECT_TRUE(lock->Check().ok());
  ASSERT_TRUE(lock->SetTerm(7).ok());
  EXPECT_TRUE(lock->Check().ok());
  EXPECT_EQ(ReadFile(JoinPath(folder_, "lock")).value(), fmt::format("{} term 7\n", ::getpid()));
  ASSERT_TRUE(RemoveAll(JoinPath(folder_, "lock")).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(lock->Check()));
  auto robber = ProjectLock::TryAcquire(folder_).value();
  EXPECT_TRUE(robber->Check().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(lock->Check()));
  robber.reset();
  EXPECT_TRUE(absl::IsFailedPrecondition(lock->Check()));
  lock.reset();
}

TEST_F(JournalTest, WhoDeletesTheStateOfACookIsToldWhatToDo) {
  const std::string state = JoinPath(folder_, "state");
  const auto lock = ProjectLock::TryAcquire(state).value();
  ASSERT_TRUE(RemoveAll(state).ok());
  EXPECT_THAT(lock->Check().ToString(),
              testing::AllOf(HasSubstr(JoinPath(state, "lock") + " was deleted while it ran"),
                             HasSubstr("cook again, and leave .galley alone while a cook runs")));
  const auto robber = ProjectLock::TryAcquire(state).value();
  EXPECT_THAT(lock->Check().ToString(), HasSubstr("lock is no longer its own"));
  EXPECT_THAT(lock->Check().ToString(), testing::Not(HasSubstr("leave .galley alone")))
      << "another cook has it: nobody deleted anything";
}

TEST_F(JournalTest, AFileSystemThatForgetsTheLockDoesNotMakeTwoDirectors) {
  auto lock = ProjectLock::TryAcquire(folder_).value();
  ASSERT_TRUE(lock->SetTerm(7).ok());
  // Another process that has the lock does so.
  ASSERT_EQ(::truncate(JoinPath(folder_, "lock").c_str(), 0), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(lock->Check()));
}

TEST_F(JournalTest, WhoWasOvertakenWritesNothing) {
  Open();
  Record(Update("/G/a", "linux", "old"));
  absl::Status answer = absl::FailedPreconditionError("overtaken");
  journal_->Fence([&] { return answer; });
  EXPECT_EQ(journal_->Record({{Update("/G/a", "linux", "new")}}, true), answer);
  EXPECT_EQ(journal_->SetMeta({.table_file = "t"}), answer);
  EXPECT_EQ(journal_->RecordPublished("linux", {}, {{{"/G/a", Digest::Of("k")}}}), answer);
  EXPECT_EQ(journal_->RecordProgress({.blamed = {{.package = "/G/a"}}}), answer);
  EXPECT_EQ(journal_->Forget({{"/G/a"}}), answer);
  Reopen();
  EXPECT_EQ(Find("/G/a").platforms.at("linux").result, "old");
  EXPECT_EQ(journal_->meta().table_file, "");
}

TEST_F(JournalTest, ALockFileLeftByACrashDoesNotLock) {
  ASSERT_TRUE(WriteFileAtomic(JoinPath(folder_, "lock"), "12345\n").ok());
  EXPECT_TRUE(ProjectLock::TryAcquire(folder_).ok());
}

}  // namespace
}  // namespace galley::director
