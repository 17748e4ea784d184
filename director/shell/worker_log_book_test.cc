#include "director/shell/worker_log_book.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/store/testing/memory_store.h"
#include "director/logs/log_reader.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;

class WorkerLogBookTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "book").value();
    book_.emplace(
        WorkerLogBook::Deps{
            .reports = reports_, .views = views_, .clocks = clocks_, .clock = clock_},
        WorkerLogsOptions{.folder = folder_});
    views_.Attached({.name = "w", .machine = "node7"});
    reports_.Register(7, std::make_shared<AttemptInfo>(AttemptInfo{
                             .package = PackageId(0), .name = "/Game/a", .worker = "w"}));
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  // Returns the written lines as "worker@machine from package: text".
  std::vector<std::string> Written() {
    book_.reset();  // writes what waits
    std::vector<std::string> lines;
    for (const LogRecord& one : LogReader(folder_).Read()) {
      lines.push_back(fmt::format("{}@{} {} {}: {}", one.worker, one.machine, LogFromName(one.from),
                                  one.package, one.text));
      records_.push_back(one);
    }
    return lines;
  }
  static v1::LogLine& Say(v1::FromWorker& message, uint64_t attempt, const std::string& text) {
    v1::LogLine& line = *message.add_log();
    line.set_attempt(attempt);
    line.set_text(text);
    line.set_level(2);
    return line;
  }

  std::string folder_;
  SystemClock clock_;
  store::MemoryStore store_;
  ResultTable results_{ResultTable::Kept::kWhileHeld};
  Trace trace_;
  ReportReader reports_{
      {.sources = [] { return nullptr; }, .store = &store_, .results = &results_, .trace = &trace_},
      "",
      {}};
  WorkerViews views_;
  ClockOffsets clocks_;
  std::optional<WorkerLogBook> book_;
  std::vector<LogRecord> records_;
};

TEST_F(WorkerLogBookTest, LinesHaveTheirPackageWhereTheAttemptIsTheWorkers) {
  v1::FromWorker message;
  Say(message, 7, "printed").set_is_output(true);
  Say(message, 8, "of an attempt that nobody gave");
  book_->Take("w", message);
  book_->Take("liar", message);
  EXPECT_THAT(Written(), ElementsAre("w@node7 output /Game/a: printed",
                                     "w@node7 worker : of an attempt that nobody gave",
                                     "liar@ output : printed",
                                     "liar@ worker : of an attempt that nobody gave"));
}

TEST_F(WorkerLogBookTest, TimesAreOurs) {
  const absl::Time now = clock_.Now();
  clocks_.Heard("w", now - absl::Hours(5), now);
  v1::FromWorker message;
  message.set_sent_us(absl::ToUnixMicros(now - absl::Hours(5)));
  Say(message, 0, "a minute ago")
      .set_time_us(absl::ToUnixMicros(now - absl::Hours(5) - absl::Minutes(1)));
  Say(message, 0, "now");
  Say(message, 0, "in a thousand years")
      .set_time_us(absl::ToUnixMicros(now + absl::Hours(9'000'000)));
  book_->Take("w", message);
  EXPECT_THAT(Written(), ElementsAre("w@node7 worker : a minute ago", "w@node7 worker : now",
                                     "w@node7 worker : in a thousand years"));
  EXPECT_LT(absl::AbsDuration(records_[0].time - (now - absl::Minutes(1))), absl::Milliseconds(1));
  EXPECT_LE(records_[2].time, clock_.Now());
}

TEST_F(WorkerLogBookTest, AnAttemptThatFailedIsNotedWithItsTime) {
  views_.Given("w", 7, {.package = "/Game/a", .given = absl::FromUnixSeconds(5)});
  book_->NoteFailed("w", 7, "the attempt failed: line 3\n  is wrong\n");
  EXPECT_THAT(Written(), ElementsAre("w@node7 director /Game/a: the attempt failed: line 3",
                                     "w@node7 director /Game/a:   is wrong"));
  EXPECT_EQ(records_[0].since, absl::FromUnixSeconds(5));
}

TEST_F(WorkerLogBookTest, WhatALostWorkerHadInHandIsNoted) {
  views_.Given("w", 7, {.package = "/Game/a", .given = absl::FromUnixSeconds(5)});
  book_->NoteLost("w", "ended: signal 9");
  EXPECT_THAT(Written(), ElementsAre("w@node7 director : ended: signal 9; it had 1 job in hand",
                                     "w@node7 director /Game/a: the attempt was lost with its "
                                     "worker: ended: signal 9"));
}

TEST_F(WorkerLogBookTest, OneMessageHasOnlySoManyLines) {
  v1::FromWorker message;
  for (int i = 0; i < WorkerLogBook::kLinesMax + 10; ++i) Say(message, 0, "x");
  book_->Take("w", message);
  EXPECT_LE(Written().size(), static_cast<size_t>(WorkerLogBook::kLinesMax));
}

}  // namespace
}  // namespace galley::director
