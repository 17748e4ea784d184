#include "director/standing/standings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/content/patched_file.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

class StandingsTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = *MakeTemporaryDirectory(testing::TempDir(), "standings_test_");
    standings_.emplace(dir_);
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(dir_).ok()); }

  // Returns a table with a byte that tells it from others.
  static std::string Table(const std::string& name) {
    content::StampTableBuilder builder;
    const uint32_t folder = builder.Add({.host_path = "/nowhere"});
    builder.Add(folder, {.name = name, .digest = Digest::Of(name)});
    return *builder.Finish();
  }
  static Standing Sample(const std::string& ask) {
    return {.ask = ask,
            .facts = {{"a", "1"}, {"b", "2"}},
            .environment = {{"LANG", "=C"}, {"X", "unset"}},
            .tools = {{.path = "/bin/x",
                       .value = "v",
                       .stat = {.size_bytes = 1,
                                .mtime_ns = -2,
                                .ctime_ns = 3,
                                .inode = 4,
                                .device = 5,
                                .mode = 6},
                       .is_racy = true}},
            .generation = "g",
            .platforms = {{.name = "pc", .root = Digest::Of("root"), .sequence = 7}},
            .store_id = "s",
            .loss_epoch = 8,
            .store_commits = 9,
            .warnings = {{"/Game/a", "pc", "text"}, {"", "", "other"}},
            .failures = {{"/Game/b", "", 1, 1, "error", "log"}},
            .counts = {1, 2, 3, 4, 5, 6, 7, 8},
            .snapshot = Digest::Of("snapshot")};
  }

  // Keeps the `i`-th ask, and makes all kept files 1 s older, because files of one tick have one
  // time.
  void KeepAndAge(size_t i) {
    ASSERT_TRUE(standings_
                    ->Keep(Sample(fmt::format("ask {}", i)),
                           {.sources = Table("src"), .members = "", .sandboxes = {}})
                    .ok());
    for (const auto& file : std::filesystem::directory_iterator(JoinPath(dir_, "standing")))
      std::filesystem::last_write_time(file.path(),
                                       file.last_write_time() - std::chrono::seconds(1));
  }

  // Returns the sources' table of the standing of "ask".
  std::string SourcesFile() const {
    return JoinPath(dir_, "standing/" + Digest::Of("ask").hex().substr(0, 16) + ".sources");
  }

  std::string dir_;
  std::optional<Standings> standings_;
};

TEST_F(StandingsTest, WhatWasKeptIsFoundWithItsTables) {
  ASSERT_TRUE(
      standings_
          ->Keep(Sample("ask"),
                 {.sources = Table("src"), .members = "", .sandboxes = {{"pc", Table("out")}}})
          .ok());
  const std::optional<Standing> found = standings_->Find("ask");
  ASSERT_TRUE(found.has_value());
  Standing expected = Sample("ask");
  expected.source_stamps = content::PatchedFile::IdOf(Table("src"));
  expected.platforms[0].sandbox_stamps = content::PatchedFile::IdOf(Table("out"));
  EXPECT_EQ(EncodeStanding(*found), EncodeStanding(expected));
  EXPECT_EQ(found->counts, expected.counts);
  EXPECT_EQ(found->warnings, expected.warnings);
  EXPECT_EQ(found->failures, expected.failures);
  EXPECT_EQ(found->tools[0].stat, expected.tools[0].stat);
  EXPECT_TRUE(standings_->Sources("ask", found->source_stamps).ok());
  EXPECT_TRUE(standings_->Sandbox("ask", "pc", found->platforms[0].sandbox_stamps).ok());
  EXPECT_FALSE(standings_->Find("other").has_value());
}

TEST_F(StandingsTest, ATableOfAnotherTimeIsNotTaken) {
  ASSERT_TRUE(
      standings_->Keep(Sample("ask"), {.sources = Table("old"), .members = "", .sandboxes = {}})
          .ok());
  const Standing before = *standings_->Find("ask");
  ASSERT_TRUE(
      standings_->Keep(Sample("ask"), {.sources = Table("new"), .members = "", .sandboxes = {}})
          .ok());
  EXPECT_TRUE(absl::IsInvalidArgument(standings_->Sources("ask", before.source_stamps).status()));
}

// An older Galley's tables are no damage, and nothing is told twice of a table that is written
// anew.
TEST_F(StandingsTest, DamageIsToldAndAnotherVersionIsNot) {
  const auto keep = [&] {
    ASSERT_TRUE(
        standings_->Keep(Sample("ask"), {.sources = Table("src"), .members = "", .sandboxes = {}})
            .ok());
  };
  keep();
  const std::string file = SourcesFile();
  std::string bytes = *ReadFile(file, 1 << 20);
  (void)TakeRepairs();
  bytes[7] = '0';
  ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
  keep();
  EXPECT_THAT(TakeRepairs(), testing::IsEmpty());
  bytes[8] ^= 1;
  bytes[7] = '2';
  ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
  keep();
  EXPECT_THAT(TakeRepairs(), testing::ElementsAre(testing::HasSubstr("its checksum is wrong")));
}

TEST_F(StandingsTest, WhatADeadProcessWasWritingGoesAfterAnHour) {
  const auto keep = [&](const std::string& ask) {
    ASSERT_TRUE(
        standings_->Keep(Sample(ask), {.sources = Table(ask), .members = "", .sandboxes = {}})
            .ok());
  };
  keep("ask");
  const std::string young = SourcesFile() + ".Ab3dEf", old = SourcesFile() + ".patch.x1Y2z3",
                    aside = SourcesFile() + ".broken-1";
  for (const std::string& file : {young, old, aside}) ASSERT_TRUE(WriteFileAtomic(file, "x").ok());
  for (const std::string& file : {old, aside, SourcesFile()})
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  keep("other");
  EXPECT_TRUE(FileExists(young));
  EXPECT_FALSE(FileExists(old));
  EXPECT_TRUE(FileExists(aside));
  EXPECT_TRUE(standings_->Sources("ask", standings_->Find("ask")->source_stamps).ok());
}

TEST_F(StandingsTest, ADamagedOneIsLikeNone) {
  ASSERT_TRUE(
      standings_->Keep(Sample("ask"), {.sources = Table("src"), .members = "", .sandboxes = {}})
          .ok());
  const std::string good = EncodeStanding(*standings_->Find("ask"));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeStanding(bad).status())) << i;
  }
  for (const auto& file : std::filesystem::directory_iterator(JoinPath(dir_, "standing")))
    ASSERT_TRUE(WriteFileAtomic(file.path().string(), "rubbish").ok());
  EXPECT_FALSE(standings_->Find("ask").has_value());
  // A person's folder in the way is moved aside.
  for (const auto& file : std::filesystem::directory_iterator(JoinPath(dir_, "standing"))) {
    std::filesystem::remove(file.path());
    std::filesystem::create_directory(file.path());
  }
  EXPECT_TRUE(
      standings_->Keep(Sample("ask"), {.sources = Table("src"), .members = "", .sandboxes = {}})
          .ok());
  EXPECT_TRUE(standings_->Find("ask").has_value());
}

TEST_F(StandingsTest, OfManyAsksTheOldestAreForgotten) {
  for (size_t i = 0; i < kStandingsMax + 3; ++i) KeepAndAge(i);
  EXPECT_FALSE(standings_->Find("ask 2").has_value());
  EXPECT_TRUE(standings_->Find("ask 3").has_value());
  EXPECT_TRUE(standings_->Find(fmt::format("ask {}", kStandingsMax + 2)).has_value());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(JoinPath(dir_, "standing")), {}),
            2 * static_cast<std::ptrdiff_t>(kStandingsMax));
}

TEST_F(StandingsTest, OneThatWasUsedIsNotTheFirstToGoAndWhatIsLeftOverGoes) {
  for (size_t i = 0; i < kStandingsMax; ++i) KeepAndAge(i);
  standings_->Touch("ask 0");
  ASSERT_TRUE(WriteFileAtomic(JoinPath(dir_, "standing/0123456789abcdef.sources"), "left").ok());
  KeepAndAge(kStandingsMax);
  EXPECT_TRUE(standings_->Find("ask 0").has_value());
  EXPECT_FALSE(standings_->Find("ask 1").has_value());
  EXPECT_FALSE(FileExists(JoinPath(dir_, "standing/0123456789abcdef.sources")));
}

TEST(DifferingFactTest, TheFirstNameIsTold) {
  const Facts facts = {{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(DifferingFact(facts, facts), "");
  EXPECT_EQ(DifferingFact(facts, {{"a", "1"}, {"b", "3"}}), "b");
  EXPECT_EQ(DifferingFact(facts, {{"a", "1"}}), "b");
  EXPECT_EQ(DifferingFact({{"a", "1"}}, facts), "b");
  EXPECT_EQ(DifferingFact(facts, {{"b", "2"}}), "a");
}

}  // namespace
}  // namespace galley::director
