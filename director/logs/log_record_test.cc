#include "director/logs/log_record.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LogRecord ARecord() {
  return {.time = absl::FromUnixMicros(1'700'000'000'000'001),
          .worker = "slurm-3",
          .machine = "node7",
          .from = LogRecord::From::kOutput,
          .level = LogLevel::kWarning,
          .attempt = (7ull << 40) + 12,
          .package = "/Game/x.png",
          .text = "it is \"wet\"",
          .since = absl::FromUnixMicros(1'700'000'000'000'000)};
}

TEST(LogRecordTest, ComesBackAsItWas) {
  const std::string line = EncodeLogRecord(ARecord());
  EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line";
  const auto read = DecodeLogRecord(line);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, ARecord());
}

TEST(LogRecordTest, TheFormatIsThatOfTheDocument) {
  EXPECT_EQ(EncodeLogRecord(ARecord()),
            R"({"attempt":7696581394444,"from":"output","level":"warning","machine":"node7",)"
            R"("package":"/Game/x.png","since_us":1700000000000000,"text":"it is \"wet\"",)"
            R"("time_us":1700000000000001,"worker":"slurm-3"})"
            "\n");
}

TEST(LogRecordTest, WhatAWorkerSaysCannotRuleATerminal) {
  LogRecord record = ARecord();
  record.text = "\x1b[2Jgone\r\n\x7f \xc2\x9b[31m \xe2\x80\xae txet \xff\xc3\xa9";
  record.worker = "w\x1b]0;title\x07";
  const LogRecord read = DecodeLogRecord(EncodeLogRecord(record)).value();
  EXPECT_EQ(read.text, "\\x1b[2Jgone\\x0d\\x0a\\x7f \\u{9b}[31m \\u{202e} txet \\xff\xc3\xa9");
  EXPECT_EQ(read.worker, "w\\x1b]0;title\\x07");
}

TEST(LogRecordTest, WhatAnEditedFileSaysCannotEither) {
  const auto read = DecodeLogRecord(
      R"({"time_us":1,"worker":"a\u001b[2J","text":"\u009b","level":"loud","from":"?","new":[]})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->worker, "a\\x1b[2J");
  EXPECT_EQ(read->text, "\\u{9b}");
  EXPECT_EQ(read->level, LogLevel::kInfo);
  EXPECT_EQ(read->from, LogRecord::From::kWorker);
}

TEST(LogRecordTest, LongTextsAreCutBetweenCharacters) {
  LogRecord record = ARecord();
  record.text = std::string(kLogTextBytesMax - 1, 'x') + "\xc3\xa9 and more";
  const LogRecord read = DecodeLogRecord(EncodeLogRecord(record)).value();
  EXPECT_EQ(read.text, std::string(kLogTextBytesMax - 1, 'x') + "...");
}

TEST(LogRecordTest, WhatIsNoRecordIsRefused) {
  for (const char* line : {"", "{", "[]", "{}", R"({"time_us":1})", R"({"worker":"a"})",
                           R"({"time_us":"1","worker":"a"})", R"({"time_us":1,"worker":2})"})
    EXPECT_FALSE(DecodeLogRecord(line).ok()) << line;
}

TEST(LogRecordTest, AWorkersNameIsNoWayOutOfTheFolder) {
  EXPECT_EQ(LogFileStem("slurm-3"), "slurm-3");
  EXPECT_EQ(LogFileStem("../../etc/passwd"), "%2e%2e%2f%2e%2e%2fetc%2fpasswd");
  EXPECT_EQ(LogFileStem("."), "%2e");
  EXPECT_EQ(LogFileStem("a.old"), "a%2eold") << "no worker has another one's older file";
  const std::string longest(256, 'x');
  EXPECT_EQ(LogFileStem(longest).size(), 120u);
  EXPECT_NE(LogFileStem(longest), LogFileStem(longest + "y"));
  EXPECT_NE(LogFileStem(longest), LogFileStem(LogFileStem(longest)));
}

}  // namespace
}  // namespace galley::director
