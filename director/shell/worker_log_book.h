// WorkerLogBook: what there is to say of workers, as the director heard it: their own lines, and
// the director's notes of them and of attempts that ended badly. It goes to the files of `galley
// logs` (director/logs); what is a warning goes to the director's own log, too, but for what
// programs printed.
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
  static constexpr size_t kLostAttemptsMax = 100;  // noted of one worker
  static constexpr size_t kErrorLinesMax = 20;     // of one attempt; its log has all
  struct Deps {
    const ReportReader& reports;
    const WorkerViews& views;
    const ClockOffsets& clocks;
    Clock& clock;
  };
  // All of `deps` outlives it.
  WorkerLogBook(const Deps& deps, WorkerLogsOptions options)
      : deps_(deps), logs_(std::move(options), deps.clock) {}

  // The lines of a worker's message.
  void Take(const std::string& worker, const v1::FromWorker& message);
  // The director says it, here and in its own log ("worker=slurm-3 <text>").
  void Note(const std::string& worker, LogLevel level, const std::string& text);
  // A report says that an attempt failed; `error`: what there is to say, in lines.
  void NoteFailed(const std::string& worker, AttemptId attempt, const std::string& error);
  // The worker is gone, with all that it had in hand. REQUIRES: the views still have it.
  void NoteLost(const std::string& worker, const std::string& why);

 private:
  LogRecord RecordOf(const std::string& worker, AttemptId attempt) const;

  const Deps deps_;
  WorkerLogs logs_;
};

}  // namespace galley::director
