#include "director/resident/cook_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "common/base/testing/await.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CookLogTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "log").value();
    path_ = JoinPath(folder_, "7.log");
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  static v1::CookEvent Said(const std::string& text) {
    v1::CookEvent event;
    event.set_said(text);
    return event;
  }
  static v1::CookEvent Warned(const std::string& text) {
    v1::CookEvent event;
    event.mutable_warned()->set_text(text);
    return event;
  }
  static v1::CookReport Report() {
    v1::CookReport report;
    report.set_has_failures(true);
    return report;
  }
  // Returns the rest as "one", "warned two", "at 5", "missed 3", "report 14 gone", "trace xx".
  static std::vector<std::string> Rest(CookReader& reader) {
    std::vector<std::string> texts;
    v1::CookEvent event;
    while (reader.Next(absl::ZeroDuration(), event) == CookReader::Got::kEvent) {
      if (event.has_said()) texts.push_back(event.said());
      if (event.has_warned()) texts.push_back("warned " + event.warned().text());
      if (event.has_progress()) texts.push_back("at " + std::to_string(event.progress().to_cook()));
      if (event.has_missed()) texts.push_back("missed " + std::to_string(event.missed()));
      if (event.has_report())
        texts.push_back("report " + std::to_string(event.report().end_code()));
      if (event.has_trace()) texts.push_back("trace " + event.trace());
    }
    return texts;
  }
  static std::vector<std::string> All(const std::shared_ptr<CookLog>& log) {
    return Rest(*CookLog::Read(log));
  }

  std::string folder_, path_;
};

TEST_F(CookLogTest, EachReaderReadsFromTheBeginningAtItsOwnPace) {
  const auto log = CookLog::Begin(path_, {.buffer_bytes = 16});
  log->Append(Said("one"));
  const auto early = CookLog::Read(log);
  EXPECT_EQ(log->readers(), 1u);
  EXPECT_THAT(Rest(*early), ElementsAre("one"));
  log->Append(Said("two, which is long enough to be written"));
  log->Append(Said("three"));
  log->End(Report(), "[]");
  EXPECT_THAT(Rest(*early), ElementsAre("two, which is long enough to be written", "three",
                                        "report 0", "trace []"));
  EXPECT_THAT(All(log), ElementsAre("one", "two, which is long enough to be written", "three",
                                    "report 0", "trace []"));
  v1::CookEvent event;
  EXPECT_EQ(early->Next(absl::ZeroDuration(), event), CookReader::Got::kEnd);
}

TEST_F(CookLogTest, OfProgressOnlyTheNewestIsTold) {
  const auto log = CookLog::Begin(path_, {});
  const auto reader = CookLog::Read(log);
  for (uint32_t i = 1; i <= 5; ++i) {
    v1::CookProgress progress;
    progress.set_to_cook(i);
    log->SetProgress(progress);
  }
  log->Append(Said("one"));
  EXPECT_THAT(Rest(*reader), ElementsAre("one", "at 5"));
  EXPECT_THAT(Rest(*reader), IsEmpty());
}

TEST_F(CookLogTest, ACookThatHasEndedIsReadFromItsFile) {
  {
    const auto log = CookLog::Begin(path_, {});
    log->Append(Said("one"));
    log->End(Report(), "[]");
  }
  const auto log = CookLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT(All(*log), ElementsAre("one", "report 0"));
}

TEST_F(CookLogTest, BeyondItsLimitResultsAreCountedAndWarningsAreKept) {
  const auto log = CookLog::Begin(path_, {.file_bytes = 40, .buffer_bytes = 1});
  for (const char* text : {"one", "two", "three"}) log->Append(Said(text));
  log->Append(Said("four, beyond the limit"));
  log->Append(Warned("five"));
  log->Append(Said("six"));
  log->End(Report(), "");
  EXPECT_THAT(All(log), ElementsAre("one", "two", "three", "warned five", "missed 2", "report 0"));
}

TEST_F(CookLogTest, WithoutAFileALogIsKeptInMemoryWithinALimit) {
  const auto log =
      CookLog::Begin(JoinPath(folder_, "none/7.log"), {.buffer_bytes = 1, .unwritten_bytes = 40});
  for (const char* text : {"one", "two", "three"}) log->Append(Said(text));
  log->Append(Said("four"));
  log->Append(Warned("five"));
  log->End(Report(), "");
  EXPECT_THAT(All(log), ElementsAre("one", "two", "three", "warned five", "missed 1", "report 0"));
}

TEST_F(CookLogTest, ALogThatIsCutOffAnywhereSaysThatItsDirectorDied) {
  {
    const auto log = CookLog::Begin(path_, {});
    log->Append(Said("one"));
    log->Append(Said("two"));
    log->End(Report(), "");
  }
  const uint64_t size = StatFile(path_)->size_bytes;
  const std::string first_line = "galley-cook-log 1\n";
  for (uint64_t cut = size - 1; cut >= first_line.size(); --cut) {
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(cut)), 0);
    const auto log = CookLog::Open(path_);
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_EQ(All(*log).back(), "report 14") << cut;
  }
  ASSERT_EQ(::truncate(path_.c_str(), 3), 0);
  EXPECT_TRUE(absl::IsDataLoss(CookLog::Open(path_).status()));
  EXPECT_TRUE(absl::IsNotFound(CookLog::Open(JoinPath(folder_, "8.log")).status()));
}

TEST_F(CookLogTest, AReaderInAnotherThreadMissesNothing) {
  const auto log = CookLog::Begin(path_, {.buffer_bytes = 256});
  constexpr int kEvents = 20'000;
  int told = 0;
  std::thread reading([&] {
    const auto reader = CookLog::Read(log);
    v1::CookEvent event;
    while (true) {
      const CookReader::Got got = reader->Next(absl::Seconds(10), event);
      if (got == CookReader::Got::kEnd) return;
      if (got == CookReader::Got::kEvent && event.has_said())
        told += event.said() == std::to_string(told) ? 1 : 1'000'000;
    }
  });
  for (int i = 0; i < kEvents; ++i) log->Append(Said(std::to_string(i)));
  log->End(Report(), "");
  const WaitLimit limit("a reader that reads on to the report");
  reading.join();
  EXPECT_EQ(told, kEvents);
}

}  // namespace
}  // namespace galley::director
