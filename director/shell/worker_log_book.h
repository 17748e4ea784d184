// WorkerLogBook: writes log lines about workers: lines that workers sent, and the director's notes
// of workers and failed attempts. The lines go to the files of `galley logs` (director/logs);
// warnings, except output of programs, also go to the director's own log.
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
  static constexpr int kLinesMax = 4'096;          // for one message
  static constexpr size_t kLostAttemptsMax = 100;  // notes for one lost worker
  static constexpr size_t kErrorLinesMax = 20;     // for one attempt, whose log has all lines
  struct Deps {
    const ReportReader& reports;
    const WorkerViews& views;
    const ClockOffsets& clocks;
    Clock& clock;
  };
  // Everything in `deps` outlives the log book.
  WorkerLogBook(const Deps& deps, WorkerLogsOptions options)
      : deps_(deps), logs_(std::move(options), deps.clock) {}

  // Writes the lines in a worker's message.
  void Take(const std::string& worker, const v1::FromWorker& message);
  // Writes a line of the director, also to its own log, as "worker=slurm-3 <text>".
  void Note(const std::string& worker, LogLevel level, const std::string& text);
  // Notes that an attempt failed. `error`: may have several lines.
  void NoteFailed(const std::string& worker, AttemptId attempt, const std::string& error);
  // Notes that the worker is gone, with the jobs that it had. REQUIRES: the views still have the
  // worker.
  void NoteLost(const std::string& worker, const std::string& why);

 private:
  LogRecord RecordOf(const std::string& worker, AttemptId attempt) const;

  const Deps deps_;
  WorkerLogs logs_;
};

}  // namespace galley::director
