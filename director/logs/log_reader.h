// LogReader: reads what WorkerLogs wrote, also while it writes: each call of Read returns the lines
// that came since the last one. What is no record (a line that a director which died left behind, a
// file that somebody edited) is skipped and counted.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "director/logs/log_record.h"

namespace galley::director {

struct LogFilter {
  std::string worker;  // empty: all
  absl::Time since = absl::InfinitePast();
};

class LogReader {
 public:
  // The folder may be absent.
  explicit LogReader(std::string folder) : folder_(std::move(folder)) {}

  // Sorted by time; lines of one time as they lie in the files.
  std::vector<LogRecord> Read(const LogFilter& filter = {});
  // The workers of which there are lines, sorted.
  std::vector<std::string> Workers() const;
  uint64_t skipped() const { return skipped_; }

 private:
  void ReadFile(const std::string& path, const LogFilter& filter, std::vector<LogRecord>& records);

  const std::string folder_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> read_;  // device and inode -> bytes
  uint64_t skipped_ = 0;
};

}  // namespace galley::director
