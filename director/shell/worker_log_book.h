// WorkerLogBook: log lines about workers: the lines that workers sent, and the director's notes of
// workers and of attempts that ended badly. The lines go to the files of `galley logs`
// (director/logs); warnings, except lines that programs printed, go to the director's own log as
// well.
//
// Threads: any.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "director/logs/worker_logs.h"
#include "director/shell/clock_offsets.h"
#include "director/shell/report_reader.h"
#include "director/shell/worker_views.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class WorkerLogBook {
 public:
  static constexpr int kLinesMax = 4'096;          // of one message
  static constexpr size_t kLostAttemptsMax = 100;  // noted for one worker
  static constexpr size_t kErrorLinesMax = 20;     // for one attempt; its log has all lines
  struct Deps {
    const ReportReader& reports;
    const WorkerViews& views;
    const ClockOffsets& clocks;
    Clock& clock;
  };
  // Everything in `deps` outlives the log book.
  WorkerLogBook(const Deps& deps, WorkerLogsOptions options)
      : deps_(deps), logs_(std::move(options), deps.clock) {}

  // Takes the lines of a worker's message.
  void Take(const std::string& worker, const v1::FromWorker& message);
  // Writes a line of the director, here and in its own log ("worker=slurm-3 <text>").
  void Note(const std::string& worker, LogLevel level, const std::string& text);
  // Notes that a report called an attempt failed; `error`: the text, in lines.
  void NoteFailed(const std::string& worker, AttemptId attempt, const std::string& error);
  // Notes that the worker is gone, with everything that it had in hand. REQUIRES: the views still
  // have the worker.
  void NoteLost(const std::string& worker, const std::string& why);

 private:
  LogRecord RecordOf(const std::string& worker, AttemptId attempt) const;

  const Deps deps_;
  WorkerLogs logs_;
};

}  // namespace galley::director
