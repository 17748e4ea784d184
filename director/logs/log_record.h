// LogRecord: one line that a worker logged, or that the director has to say of a worker, as it is
// kept in <state>/logs/workers: one JSON object a line (docs/formats.md, "Logs of workers").
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
    kWorker,    // its own words
    kOutput,    // an executor printed it, or what that started
    kDirector,  // the director says it of the worker
  };
  absl::Time time;  // by the director's clock
  std::string worker;
  std::string machine;  // empty: not known
  From from = From::kWorker;
  LogLevel level = LogLevel::kInfo;
  uint64_t attempt = 0;  // 0: none
  std::string package;   // of the attempt; empty: none, or not known
  std::string text;
  // Of kDirector, of an attempt that ended: since when the worker had it. InfinitePast: not known.
  absl::Time since = absl::InfinitePast();
  bool operator==(const LogRecord&) const = default;
};

inline constexpr size_t kLogTextBytesMax = 4'096 + 64;
inline constexpr size_t kLogNameBytesMax = 4'096;  // of a worker, machine or package

std::string_view LogFromName(LogRecord::From from);  // "worker", "output", "director"
LogLevel LogLevelOf(std::string_view name);          // of an unknown one: info
std::string_view LogLevelName(LogLevel level);       // "debug", "info", "warning", "error"

// A line for a terminal: what is no character that shows, or turns the direction of writing, is
// written as \xNN or \u{NNNN}; at most `bytes_max` of `text` are looked at.
std::string PrintableLine(std::string_view text, size_t bytes_max = kLogTextBytesMax);

// With the line's end. All texts are made printable.
std::string EncodeLogRecord(const LogRecord& record);
// INVALID_ARGUMENT: it is none, or was cut off. Unknown keys are skipped.
absl::StatusOr<LogRecord> DecodeLogRecord(std::string_view line);

// The beginning of the names of a worker's files: its own name, as far as that makes a plain file
// name of at most 120 bytes. No two workers have the same.
std::string LogFileStem(std::string_view worker);

}  // namespace galley::director
