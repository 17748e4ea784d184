// JournalDamageTest: the journal on a damaged disk: whatever happens to its files, it opens, and
// returns the recorded data or nothing.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/rocks/rocks.h"
#include "director/journal/keys.h"
#include "director/journal/rocks_journal.h"
#include "director/journal/seal.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kPackages = 100;

class JournalDamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(::testing::TempDir(), "damage").value();
    Fill();
    TakeRepairs();
  }
  void TearDown() override {
    journal_.reset();
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }

  std::string Name(int i) const { return fmt::format("/G/{:04}", i); }
  std::string Database() const { return JoinPath(folder_, "journal"); }

  void Record(int cook) {
    std::vector<JournalUpdate> updates;
    for (int i = 0; i < kPackages; ++i) {
      JournalUpdate update{.package = Name(i), .platform = "linux"};
      update.record.result = fmt::format("{} of cook {} {}", i, cook, std::string(200, 'x'));
      updates.push_back(std::move(update));
    }
    ASSERT_TRUE(journal_->Record(updates, true).ok());
  }
  // Runs three cooks: tables of the first two cooks, and a log of the last.
  void Fill() {
    for (int cook = 1; cook <= 3; ++cook) {
      journal_ = Journal::Open(folder_).value();
      ASSERT_TRUE(
          journal_->SetMeta({.project_id = "p", .table_file = fmt::format("t{}", cook)}).ok());
      Record(cook);
      journal_.reset();
    }
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(Database()))
      files.push_back(entry.path().filename().string());
    std::sort(files.begin(), files.end());
    return files;
  }
  std::string FileLike(std::string_view part) const {
    for (const std::string& name : Files()) {
      if (name.find(part) != std::string::npos) return JoinPath(Database(), name);
    }
    ADD_FAILURE() << "no " << part;
    return "";
  }
  void Flip(const std::string& path, size_t at) const {
    std::string bytes = ReadFile(path).value();
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  // Returns all records of the last cook, or none; never a record of an earlier cook, which was
  // replaced.
  int Known() {
    int known = 0;
    EXPECT_TRUE(journal_
                    ->ForEach([&](std::string_view name, const PackageRecord& record) {
                      ++known;
                      EXPECT_THAT(record.platforms.at("linux").result, HasSubstr("of cook 3"))
                          << name;
                    })
                    .ok());
    return known;
  }
  // Opens a damaged journal, uses it, and opens it again.
  void ExpectHealed(const std::string& what) {
    SCOPED_TRACE(what);
    auto opened = Journal::Open(folder_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    journal_ = *std::move(opened);
    if (journal_->meta().table_file.empty()) {
      EXPECT_EQ(Known(), 0);
    } else {
      EXPECT_EQ(journal_->meta().table_file, "t3");
      Known();
    }
    ASSERT_TRUE(journal_->SetMeta({.project_id = "p", .table_file = "t4"}).ok());
    Record(3);
    EXPECT_EQ(Known(), kPackages);
    TakeRepairs();
    journal_.reset();
    journal_ = Journal::Open(folder_).value();
    EXPECT_EQ(journal_->meta().table_file, "t4");
    EXPECT_EQ(Known(), kPackages);
    EXPECT_THAT(TakeRepairs(), IsEmpty());
  }
  void Restore(const std::string& copy) {
    journal_.reset();
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
    fs::copy(copy, Database(), fs::copy_options::recursive);
  }

  std::string folder_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(JournalDamageTest, WhateverHappensToAFileItOpensAndSaysNothingWrong) {
  const std::string copy = folder_ + ".copy";
  fs::copy(Database(), copy, fs::copy_options::recursive);
  for (const std::string& name : Files()) {
    const std::string path = JoinPath(Database(), name);
    Restore(copy);
    const auto size = static_cast<size_t>(fs::file_size(path));
    for (size_t place = 0; place < 4 && size > 0; ++place) {
      Restore(copy);
      Flip(path, place * (size - 1) / 3);
      ExpectHealed(fmt::format("{} flipped at {}", name, place * (size - 1) / 3));
    }
    Restore(copy);
    fs::resize_file(path, size / 2);
    ExpectHealed(name + " cut to its half");
    Restore(copy);
    fs::resize_file(path, 0);
    fs::resize_file(path, size);
    ExpectHealed(name + " zeroed");
    Restore(copy);
    fs::remove(path);
    ExpectHealed(name + " removed");
    Restore(copy);
    fs::remove(path);
    fs::create_directories(path);
    ExpectHealed(name + " a folder");
  }
  ASSERT_TRUE(RemoveAll(copy).ok());
}

TEST_F(JournalDamageTest, ALogThatIsDamagedIsFoundAtOnceAndTold) {
  const std::string log = FileLike(".log");
  Flip(log, ReadFile(log).value().size() / 2);
  journal_ = Journal::Open(folder_).value();
  EXPECT_EQ(journal_->meta().table_file, "");
  EXPECT_THAT(TakeRepairs(),
              ElementsAre(AllOf(HasSubstr(Database() + ": its file "),
                                HasSubstr(".log is not as it was left"),
                                HasSubstr("journal.broken-1"), HasSubstr("looked up again"))));
  EXPECT_TRUE(FileExists(JoinPath(folder_, "journal.broken-1/CURRENT")));
}

// RocksDB alone would open it, without the records that the manifest's end names and with later
// records.
TEST_F(JournalDamageTest, AManifestThatWasCutDoesNotBringBackWhatWasReplaced) {
  const std::string manifest = FileLike("MANIFEST-");
  const auto size = fs::file_size(manifest);
  const std::string copy = folder_ + ".copy";
  fs::copy(Database(), copy, fs::copy_options::recursive);
  for (auto left = size - 1; left > 0; left = left * 2 / 3) {
    Restore(copy);
    fs::resize_file(manifest, left);
    ExpectHealed(fmt::format("{} of {} bytes", left, size));
  }
  ASSERT_TRUE(RemoveAll(copy).ok());
}

// The seal does not see this damage, because a block is read only when it is asked for.
TEST_F(JournalDamageTest, DamageThatIsMetByAReadIsHealedByThatRead) {
  const std::string table = FileLike(".sst");
  for (size_t at = 100; at < 2000; at += 50) Flip(table, at);
  journal_ = Journal::Open(folder_).value();
  ASSERT_EQ(journal_->meta().table_file, "t3");
  EXPECT_FALSE(journal_->MadeAnew());
  EXPECT_TRUE(journal_->ForEach([](std::string_view, const PackageRecord&) {}).ok());
  EXPECT_TRUE(journal_->MadeAnew());
  EXPECT_EQ(Known(), 0);
  EXPECT_FALSE(journal_->Find(Name(1)).value().has_value());
  EXPECT_EQ(journal_->meta().table_file, "t3") << "this cook's";
  EXPECT_THAT(TakeRepairs(), ElementsAre(AllOf(HasSubstr("Corruption"),
                                               HasSubstr("moved aside to " + Database()))));
  Record(3);
  EXPECT_EQ(Known(), kPackages);
  journal_.reset();
  journal_ = Journal::Open(folder_).value();
  EXPECT_EQ(journal_->meta().table_file, "t3") << "and it is written in the new one";
  EXPECT_EQ(Known(), kPackages);
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(JournalDamageTest, WhatWasRecordedBeforeItWasMadeAnewIsUnknown) {
  journal_ = Journal::Open(folder_).value();
  journal_.reset();
  {
    const auto database = OpenDatabase(folder_, {}).value();
    ASSERT_TRUE(database
                    ->Put(rocksdb::WriteOptions(),
                          rocks::ToSlice(PackageKey("/G/bad", kRecordTag, "linux")), "\xff")
                    .ok());
  }
  journal_ = Journal::Open(folder_).value();
  EXPECT_TRUE(journal_->Find(Name(1)).value().has_value());
  EXPECT_FALSE(journal_->Find("/G/bad").value().has_value());
  EXPECT_FALSE(journal_->Find(Name(1)).value().has_value());
  Record(3);
  EXPECT_TRUE(journal_->Find(Name(1)).value().has_value());
}

TEST_F(JournalDamageTest, OneThatIsOnlyReadIsLeftAsItIs) {
  const std::string current = FileLike("CURRENT");
  std::ofstream(current) << "nonsense\n";
  const auto opened = Journal::Open(folder_, true);
  EXPECT_TRUE(absl::IsDataLoss(opened.status())) << opened.status();
  EXPECT_THAT(opened.status().ToString(), HasSubstr("the next cook begins a new one"));
  EXPECT_EQ(ReadFile(current).value(), "nonsense\n");
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(JournalDamageTest, OnlyTheNewestBrokenJournalsStay) {
  fs::create_directories(JoinPath(folder_, "journal.broken-1/of a person"));
  for (int n = 2; n <= 6; ++n) {
    std::ofstream(FileLike("CURRENT")) << "nonsense\n";
    journal_ = Journal::Open(folder_).value();
    journal_.reset();
  }
  const auto has = [&](int n) {
    return FileExists(JoinPath(folder_, fmt::format("journal.broken-{}", n)));
  };
  EXPECT_TRUE(has(1)) << "it is not only a database";
  EXPECT_FALSE(has(2));
  EXPECT_FALSE(has(3));
  EXPECT_TRUE(has(4) && has(5) && has(6));
}

// The log of a killed director may lose its end; everything before the end must be there.
TEST_F(JournalDamageTest, OfAKilledDirectorTheManifestIsSealed) {
  journal_ = Journal::Open(folder_).value();
  ASSERT_TRUE(journal_->SetMeta({.project_id = "p", .table_file = "t3"}).ok());
  const std::string killed = folder_ + ".killed";
  fs::copy(Database(), killed, fs::copy_options::recursive);
  Restore(killed);
  journal_ = Journal::Open(folder_).value();
  EXPECT_EQ(Known(), kPackages);
  EXPECT_THAT(TakeRepairs(), IsEmpty());
  for (int eighths = 7; eighths >= 0; --eighths) {
    Restore(killed);
    const std::string current = ReadFile(JoinPath(Database(), "CURRENT")).value();
    const std::string manifest = JoinPath(Database(), current.substr(0, current.size() - 1));
    fs::resize_file(manifest, fs::file_size(manifest) * static_cast<size_t>(eighths) / 8);
    journal_ = Journal::Open(folder_).value();
    EXPECT_EQ(journal_->meta().table_file, "") << eighths;
    EXPECT_EQ(Known(), 0) << eighths;
    EXPECT_TRUE(FileExists(JoinPath(folder_, "journal.broken-1"))) << eighths;
  }
  ASSERT_TRUE(RemoveAll(killed).ok());
}

TEST_F(JournalDamageTest, ADirectorThatWasOvertakenSealsNothing) {
  journal_ = Journal::Open(folder_).value();
  const std::string open = ReadFile(JoinPath(Database(), kSealName)).value();
  journal_->Fence([] { return absl::FailedPreconditionError("overtaken"); });
  journal_.reset();
  EXPECT_EQ(ReadFile(JoinPath(Database(), kSealName)).value(), open);
}

// The seal is not synced: a power cut may leave only the name of the newest seal.
TEST_F(JournalDamageTest, AnEmptySealIsNoDamage) {
  std::ofstream(JoinPath(Database(), std::string(kSealName)), std::ios::trunc);
  journal_ = Journal::Open(folder_).value();
  EXPECT_EQ(Known(), kPackages);
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(JournalDamageTest, AFileWhoseModeForbidsToReadItIsNoDamage) {
  const std::string log = FileLike(".log");
  ASSERT_EQ(::chmod(log.c_str(), 0), 0);
  journal_ = Journal::Open(folder_).value();
  EXPECT_EQ(Known(), kPackages);
}

TEST_F(JournalDamageTest, APersonsFileBesideTheDatabaseIsNotSealedAndStays) {
  journal_ = Journal::Open(folder_).value();
  const std::string notes = JoinPath(Database(), "notes.log");
  std::ofstream(notes) << "mine";
  journal_.reset();
  std::ofstream(notes, std::ios::app) << ", and more";
  journal_ = Journal::Open(folder_).value();
  EXPECT_EQ(Known(), kPackages);
  EXPECT_EQ(ReadFile(notes).value(), "mine, and more");
}

}  // namespace
}  // namespace galley::director
