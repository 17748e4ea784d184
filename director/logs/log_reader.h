// LogReader: reads the files of WorkerLogs, also while they are written: each call of Read returns
// the lines since the last call. A line that is no record is skipped and counted: a dying director
// may have cut it off, or somebody may have edited the file.
//
// Lines of the director's own log are returned as records of a worker named kDirectorName. Its
// lines about single workers are skipped, because WorkerLogs has them.
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

// Parses a line of a director's log (InitLog), in the local time zone: "2026-11-20T20:28:38.367
// info galley[23916]: ...". INVALID_ARGUMENT: the line has another form.
absl::StatusOr<LogRecord> DecodeDirectorLine(std::string_view line);

struct LogFilter {
  std::string worker;  // empty: all workers
  absl::Time since = absl::InfinitePast();
};

class LogReader {
 public:
  // Folder and file may be absent. `director_log`: the path of the director's log; empty: it is not
  // read.
  explicit LogReader(std::string folder, std::string director_log = "")
      : folder_(std::move(folder)), director_log_(std::move(director_log)) {}

  // Returns the new records, sorted by time; records of the same time keep the order of the files.
  std::vector<LogRecord> Read(const LogFilter& filter = {});
  // Returns the names of all workers that have records, sorted.
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
