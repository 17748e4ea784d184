// WorkerLogs: writes the records of workers to files: <folder>/<stem>.jsonl, and its earlier
// contents as <stem>.old.jsonl. The files stay between cooks.
//
// A worker has at most two files, each of at most half its quota. When all files together are too
// large or too many, the least recently written files are removed; the total exceeds bytes_max by
// little more than a sixteenth. Lines above a worker's rate or above waiting_bytes_max are left
// out; a later line tells how many. A disk error loses lines, and is logged once.
//
// Threads: any; Add never waits for the disk. WorkerLogs writes on a thread of its own, from the
// first record on. The destructor writes the waiting lines.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "director/logs/log_record.h"

namespace galley::director {

// Under the state folder.
inline constexpr const char* kWorkerLogsFolder = "logs/workers";

struct WorkerLogsOptions {
  std::string folder;  // WorkerLogs makes it
  // Asked before each write; null: every write is allowed.
  std::function<absl::Status()> may_write = nullptr;
  uint64_t worker_bytes_max = 2 << 20;  // for each worker
  uint64_t bytes_max = 64 << 20;        // for all workers
  size_t files_max = 2'000;
  uint64_t waiting_bytes_max = 4 << 20;          // in memory
  uint64_t worker_bytes_per_second = 128 << 10;  // on average
  uint64_t worker_burst_bytes = 512 << 10;
};

class WorkerLogs {
 public:
  WorkerLogs(WorkerLogsOptions options, Clock& clock);
  ~WorkerLogs();
  WorkerLogs(const WorkerLogs&) = delete;
  WorkerLogs& operator=(const WorkerLogs&) = delete;

  // False: the record is left out.
  bool Add(const LogRecord& record);

 private:
  struct Waiting {
    std::string bytes;
    double room = 0;        // bytes that the rate allows at `filled`
    absl::Time filled;      // when `room` was computed
    uint64_t left_out = 0;  // left-out lines that are not told yet
  };
  using Batch = std::map<std::string, std::string>;  // stem -> lines

  bool HasRoom(Waiting& of, uint64_t bytes) GALLEY_REQUIRES(mutex_);
  void ForgetIdle() GALLEY_REQUIRES(mutex_);
  void Run();
  void Write(const Batch& batch);
  absl::Status Append(const std::string& stem, std::string_view lines);
  void TrimIfDue();
  void Trim();

  const WorkerLogsOptions options_;
  Clock& clock_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::map<std::string, Waiting> workers_ GALLEY_GUARDED_BY(mutex_);  // by stem
  uint64_t waiting_bytes_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::optional<std::thread> thread_ GALLEY_GUARDED_BY(mutex_);

  // Used only by the thread.
  uint64_t written_ = UINT64_MAX / 2;  // bytes since the last Trim
  bool has_told_error_ = false;
};

}  // namespace galley::director
