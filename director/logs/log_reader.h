// LogReader: reads the files of WorkerLogs, also while they are written: each call of Read returns
// the lines since the last call. A line that is no record (left by a dead director, or in a file
// that somebody edited) is skipped and counted.
//
// LogReader also returns the lines of the director's own log, as lines of a worker named
// kDirectorName, except lines about single workers, which are among the worker's lines.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "director/logs/log_record.h"

namespace galley::director {

inline constexpr const char* kDirectorName = "director";

// Parses a line of a director's log (InitLog), by this machine's clock: "2026-11-20T20:28:38.367
// info galley[23916]: ...". INVALID_ARGUMENT: the line is none.
absl::StatusOr<LogRecord> DecodeDirectorLine(std::string_view line);

struct LogFilter {
  std::string worker;  // empty: all workers
  absl::Time since = absl::InfinitePast();
};

class LogReader {
 public:
  // Both files may be absent. `director_log`: the file; empty: that log is not read.
  explicit LogReader(std::string folder, std::string director_log = "")
      : folder_(std::move(folder)), director_log_(std::move(director_log)) {}

  // Sorted by time; lines of one time are in the order of the files.
  std::vector<LogRecord> Read(const LogFilter& filter = {});
  // Returns the workers that have lines, sorted.
  std::vector<std::string> Workers() const;
  uint64_t skipped() const { return skipped_; }

 private:
  std::string NewLines(const std::string& path);
  void ReadFile(const std::string& path, const LogFilter& filter, std::vector<LogRecord>& records);
  void ReadDirectorLog(const LogFilter& filter, std::vector<LogRecord>& records);

  const std::string folder_, director_log_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> read_;  // device and inode -> bytes
  uint64_t skipped_ = 0;
};

}  // namespace galley::director
