#include "director/shell/worker_log_book.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "common/base/counted.h"
#include "fmt/format.h"

namespace galley::director {

LogRecord WorkerLogBook::RecordOf(const std::string& worker, AttemptId attempt) const {
  return {.time = deps_.clock.Now(),
          .worker = worker,
          .machine = deps_.views.MachineOf(worker),
          .attempt = attempt,
          .package = attempt == 0 ? "" : deps_.reports.PackageOf(attempt, worker)};
}

void WorkerLogBook::Take(const std::string& worker, const v1::FromWorker& message) {
  const int count = std::min(message.log_size(), kLinesMax);
  for (int i = 0; i < count; ++i) {
    const v1::LogLine& line = message.log(i);
    LogRecord record = RecordOf(worker, line.attempt());
    const int64_t said_us = line.time_us() != 0 ? line.time_us() : message.sent_us();
    if (said_us != 0)
      record.time = deps_.clocks.ToOurs(worker, absl::FromUnixMicros(said_us), record.time);
    record.from = line.is_output() ? LogRecord::From::kOutput : LogRecord::From::kWorker;
    record.level = static_cast<LogLevel>(std::clamp(line.level(), 0, 3));
    record.text = line.text();
    if (!logs_.Add(record) || record.from == LogRecord::From::kOutput) continue;
    const bool is_told = record.level == LogLevel::kWarning || record.level == LogLevel::kError;
    if (is_told)
      LogInfo("worker={} attempt={} {}", worker, line.attempt(), PrintableLine(line.text()));
  }
}

void WorkerLogBook::Note(const std::string& worker, LogLevel level, const std::string& text) {
  WriteLog(level, fmt::format("worker={} {}", worker, text));
  LogRecord record = RecordOf(worker, 0);
  record.from = LogRecord::From::kDirector;
  record.level = level;
  record.text = text;
  logs_.Add(record);
}

void WorkerLogBook::NoteFailed(const std::string& worker, AttemptId attempt,
                               const std::string& error) {
  LogRecord record = RecordOf(worker, attempt);
  record.from = LogRecord::From::kDirector;
  record.level = LogLevel::kWarning;
  record.since = deps_.views.GivenAt(worker, attempt);
  const std::vector<std::string> lines = absl::StrSplit(error, '\n', absl::SkipEmpty());
  for (size_t i = 0; i < std::min(lines.size(), kErrorLinesMax); ++i) {
    record.text = lines[i];
    logs_.Add(record);
  }
}

void WorkerLogBook::NoteLost(const std::string& worker, const std::string& why) {
  const auto in_hand = deps_.views.InHand(worker);
  Note(worker, LogLevel::kWarning,
       fmt::format("{}{}", why,
                   in_hand.empty()
                       ? ""
                       : fmt::format("; it had {} in hand", Counted(in_hand.size(), "job"))));
  size_t noted = 0;
  for (const auto& [attempt, job] : in_hand) {
    if (++noted > kLostAttemptsMax) break;
    LogRecord record = RecordOf(worker, attempt);
    record.from = LogRecord::From::kDirector;
    record.level = LogLevel::kWarning;
    record.since = job.given;
    record.package = job.package;
    record.text = fmt::format("the attempt was lost with its worker: {}", why);
    logs_.Add(record);
  }
}

}  // namespace galley::director
