// LogRecord: one line that a worker logged, or that the director says of a worker, as it is kept in
// <state>/logs/workers: one JSON object a line (docs/formats.md, "Logs of workers").
//
// Whatever a worker sent, a record has no control bytes in it and its file is in the folder.
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/log.h"

namespace galley::director {

struct LogRecord {
  enum class From : uint8_t {
    kWorker,    // the worker's own words
    kOutput,    // output of an executor, or of what the executor started
    kDirector,  // the director says it of the worker
  };
  absl::Time time;  // by the director's clock
  std::string worker;
  std::string machine;  // empty: unknown
  From from = From::kWorker;
  LogLevel level = LogLevel::kInfo;
  uint64_t attempt = 0;  // 0: none
  std::string package;   // of the attempt; empty: none, or unknown
  std::string text;
  // For kDirector and an attempt that ended: since when the worker had the attempt. InfinitePast:
  // unknown.
  absl::Time since = absl::InfinitePast();
  bool operator==(const LogRecord&) const = default;
};

inline constexpr size_t kLogTextBytesMax = 4'096 + 64;
inline constexpr size_t kLogNameBytesMax = 4'096;  // of a worker, machine or package

std::string_view LogFromName(LogRecord::From from);  // "worker", "output", "director"
LogLevel LogLevelOf(std::string_view name);          // an unknown name: info
std::string_view LogLevelName(LogLevel level);       // "debug", "info", "warning", "error"

// Returns a line for a terminal: a character that does not show, or that turns the direction of
// writing, becomes \xNN or \u{NNNN}; looks at most at `bytes_max` of `text`.
std::string PrintableLine(std::string_view text, size_t bytes_max = kLogTextBytesMax);

// With the line's end. All texts are made printable.
std::string EncodeLogRecord(const LogRecord& record);
// INVALID_ARGUMENT: the line is no record, or was cut off. Unknown keys are skipped.
absl::StatusOr<LogRecord> DecodeLogRecord(std::string_view line);

// Returns the start of the names of a worker's files: the worker's name, as far as it makes a plain
// file name of at most 120 bytes. No two workers have the same stem.
std::string LogFileStem(std::string_view worker);

}  // namespace galley::director
