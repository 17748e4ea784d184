// WorkerLogsTest: the writer and the reader together.
#include "director/logs/worker_logs.h"

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "director/logs/log_reader.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;

class StillClock final : public Clock {
 public:
  absl::Time Now() override { return now; }
  absl::Time Monotonic() override { return now; }
  absl::Time now = absl::FromUnixSeconds(1'000);
};

class WorkerLogsTest : public testing::Test {
 protected:
  void SetUp() override {
    scratch_ = MakeTemporaryDirectory(testing::TempDir(), "logs").value();
    options_.folder = JoinPath(scratch_, "logs/workers");
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(scratch_).ok()); }

  static LogRecord Said(const std::string& worker, int64_t second, const std::string& text) {
    return {.time = absl::FromUnixSeconds(second), .worker = worker, .text = text};
  }
  // On return everything is written.
  void Write(const std::vector<LogRecord>& records) {
    WorkerLogs logs(options_, clock_);
    for (const LogRecord& record : records) logs.Add(record);
  }
  // Returns "worker text" of each record, in order.
  static std::vector<std::string> Texts(const std::vector<LogRecord>& records) {
    std::vector<std::string> texts;
    for (const LogRecord& one : records) texts.push_back(one.worker + " " + one.text);
    return texts;
  }
  std::vector<std::string> ReadAll(const LogFilter& filter = {}) const {
    return Texts(LogReader(options_.folder).Read(filter));
  }
  uint64_t BytesKept() const {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder))
      bytes += entry.file_size();
    return bytes;
  }

  std::string scratch_;
  WorkerLogsOptions options_;
  StillClock clock_;
  std::error_code error_;
};

TEST_F(WorkerLogsTest, LinesOfAllWorkersAreMergedByTime) {
  Write({Said("b", 2, "two"), Said("a", 1, "one"), Said("a", 3, "three")});
  Write({Said("b", 4, "in the next cook")});
  EXPECT_THAT(ReadAll(), ElementsAre("a one", "b two", "a three", "b in the next cook"));
  EXPECT_THAT(ReadAll({.worker = "b"}), ElementsAre("b two", "b in the next cook"));
  EXPECT_THAT(ReadAll({.since = absl::FromUnixSeconds(3)}),
              ElementsAre("a three", "b in the next cook"));
  EXPECT_THAT(LogReader(options_.folder).Workers(), ElementsAre("a", "b"));
}

TEST_F(WorkerLogsTest, WithoutAFolderThereIsNothing) {
  EXPECT_THAT(ReadAll(), IsEmpty());
  EXPECT_THAT(LogReader(options_.folder).Workers(), IsEmpty());
}

TEST_F(WorkerLogsTest, AReaderGoesOnWhereItWas) {
  Write({Said("a", 1, "one")});
  LogReader reader(options_.folder);
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("a one"));
  EXPECT_THAT(Texts(reader.Read()), IsEmpty());
  Write({Said("a", 2, "two"), Said("b", 2, "new")});
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("a two", "b new"));
}

TEST_F(WorkerLogsTest, AWorkerThatSaysMuchLosesItsOwnOldLinesOnly) {
  options_.worker_bytes_max = 20'000;
  Write({Said("quiet", 0, "still here")});
  LogReader reader(options_.folder);
  (void)reader.Read();
  std::vector<std::string> followed;
  for (int i = 0; i < 100; ++i) {
    Write({Said("loud", i, fmt::format("{:0500}", i))});
    for (std::string& text : Texts(reader.Read())) followed.push_back(std::move(text));
  }
  EXPECT_EQ(followed.size(), 100u) << "who follows misses nothing where files are exchanged";
  const std::vector<std::string> kept = ReadAll({.worker = "loud"});
  EXPECT_THAT(kept.size(), Le(20'000u / 500));
  EXPECT_GT(kept.size(), 10u);
  EXPECT_EQ(kept.back(), fmt::format("loud {:0500}", 99));
  EXPECT_THAT(ReadAll({.worker = "quiet"}), ElementsAre("quiet still here"));
  EXPECT_THAT(BytesKept(), Le(21'000u));
}

TEST_F(WorkerLogsTest, OfAllFilesTheOldestGoFirst) {
  options_.bytes_max = 30'000;
  options_.files_max = 5;
  for (int i = 0; i < 20; ++i) {
    Write({Said(fmt::format("w{:02}", i), i, std::string(3'000, 'x'))});
    // Files of one moment have one time on some disks.
    const auto file = JoinPath(options_.folder, fmt::format("w{:02}.jsonl", i));
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(20 - i));
  }
  Write({Said("last", 21, "word")});
  EXPECT_THAT(LogReader(options_.folder).Workers(),
              ElementsAre("last", "w16", "w17", "w18", "w19"));
  EXPECT_THAT(BytesKept(), Le(30'000u));
}

// An attach flood: 10,800 names in a minute, each with a line or two.
TEST_F(WorkerLogsTest, AFloodOfNamesLeavesABoundedNumberOfFiles) {
  options_.files_max = 64;
  size_t most = 0;
  WorkerLogs logs(options_, clock_);
  for (int i = 0; i < 1'000; ++i) {
    logs.Add(Said(fmt::format("flood-{}", i), i, "is attached"));
    const std::filesystem::directory_iterator files(options_.folder, error_);
    most = std::max<size_t>(most, static_cast<size_t>(std::distance(begin(files), end(files))));
  }
  EXPECT_LE(most, 64u + 64 / 16 + 1);
  Write({Said("flood-1000", 1'000, "is attached")});
  EXPECT_LE(LogReader(options_.folder).Workers().size(), 64u + 64 / 16 + 2);
}

TEST_F(WorkerLogsTest, AFloodIsLeftOutAndCounted) {
  options_.worker_bytes_per_second = 1'000;
  options_.worker_burst_bytes = 2'000;
  {
    WorkerLogs logs(options_, clock_);
    for (int i = 0; i < 100; ++i) logs.Add(Said("loud", i, std::string(400, 'x')));
    EXPECT_TRUE(logs.Add(Said("quiet", 1, "is heard")));
    clock_.now += absl::Seconds(1);
    EXPECT_TRUE(logs.Add(Said("loud", 101, "again")));
  }
  const std::vector<std::string> loud = ReadAll({.worker = "loud"});
  ASSERT_EQ(loud.size(), 6u);
  EXPECT_EQ(loud[4], "loud 96 lines of this worker were left out: they came too fast");
  EXPECT_EQ(loud[5], "loud again");
  EXPECT_THAT(ReadAll({.worker = "quiet"}), ElementsAre("quiet is heard"));
}

TEST_F(WorkerLogsTest, ALineThatADeadDirectorLeftHalfIsSkipped) {
  Write({Said("a", 1, "one")});
  const std::string path = JoinPath(options_.folder, "a.jsonl");
  ASSERT_TRUE(WriteFileAtomic(path, ReadFile(path).value() + R"({"time_us":2,"wor)").ok());
  Write({Said("a", 3, "three")});
  LogReader reader(options_.folder);
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("a one", "a three"));
  EXPECT_EQ(reader.skipped(), 1u);
}

TEST_F(WorkerLogsTest, LinesOfTheDirectorComeBetweenThoseOfTheWorkers) {
  const absl::Time time =
      absl::FromCivil(absl::CivilSecond(2026, 11, 20, 20, 28, 38), absl::LocalTimeZone());
  const auto said = [&](absl::Duration after, const std::string& text) {
    LogRecord record{.time = time + after, .worker = "a", .text = text};
    return record;
  };
  Write({said(absl::ZeroDuration(), "before"), said(absl::Seconds(1), "after")});
  const std::string log = JoinPath(scratch_, "director.log");
  ASSERT_TRUE(WriteFileAtomic(JoinPath(scratch_, "director.1.log"),
                              "2026-11-20T20:28:38.100 info galley[7]: the older file\n")
                  .ok());
  ASSERT_TRUE(WriteFileAtomic(log,
                              "2026-11-20T20:28:38.367 warning galley[7]: disk \x1b[2J full\n"
                              "2026-11-20T20:28:38.368 info galley[7]: worker=a attached\n"
                              "nonsense\n2026-11-20T20:28:38.4 cut\n")
                  .ok());
  LogReader reader(options_.folder, log);
  const std::vector<LogRecord> records = reader.Read();
  EXPECT_THAT(Texts(records), ElementsAre("a before", "director the older file",
                                          "director disk \\x1b[2J full", "a after"));
  EXPECT_EQ(records[2].level, LogLevel::kWarning);
  EXPECT_EQ(records[2].time, time + absl::Milliseconds(367));
  EXPECT_THAT(reader.Workers(), ElementsAre("a", "director"));
  EXPECT_THAT(Texts(LogReader(options_.folder, log).Read({.worker = "director"})),
              ElementsAre("director the older file", "director disk \\x1b[2J full"));
}

TEST_F(WorkerLogsTest, WhoMayNotWriteWritesNothing) {
  options_.may_write = [] { return absl::FailedPreconditionError("another director has it"); };
  Write({Said("a", 1, "one")});
  EXPECT_FALSE(FileExists(options_.folder));
}

TEST_F(WorkerLogsTest, ALinkInTheFolderIsNotFollowed) {
  ASSERT_TRUE(CreateDirectories(options_.folder).ok());
  const std::string other = JoinPath(scratch_, "other");
  ASSERT_TRUE(WriteFileAtomic(other, "mine\n").ok());
  std::filesystem::create_symlink(other, JoinPath(options_.folder, "a.jsonl"));
  Write({Said("a", 1, "one")});
  EXPECT_EQ(ReadFile(other).value(), "mine\n");
  EXPECT_THAT(ReadAll(), IsEmpty());
}

}  // namespace
}  // namespace galley::director
