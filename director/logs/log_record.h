// LogRecord: one log line of a worker, or of the director about a worker. The files in
// <state>/logs/workers hold one JSON object for each record (docs/formats.md, "Logs of workers").
//
// Workers are not trusted: whatever a worker sends, an encoded record holds no control bytes, and
// its file lies in the folder.
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
    kWorker,    // the worker's own log
    kOutput,    // output of an executor, or of a program that it started
    kDirector,  // the director, about the worker
  };
  absl::Time time;  // by the director's clock
  std::string worker;
  std::string machine;  // empty: unknown
  From from = From::kWorker;
  LogLevel level = LogLevel::kInfo;
  uint64_t attempt = 0;  // 0: none
  std::string package;   // of the attempt; empty: none, or unknown
  std::string text;
  // kDirector, when an attempt has ended: when the worker got the attempt. InfinitePast: unknown.
  absl::Time since = absl::InfinitePast();
  bool operator==(const LogRecord&) const = default;
};

inline constexpr size_t kLogTextBytesMax = 4'096 + 64;
inline constexpr size_t kLogNameBytesMax = 4'096;  // of a worker, machine or package

std::string_view LogFromName(LogRecord::From from);  // "worker", "output", "director"
LogLevel LogLevelOf(std::string_view name);          // an unknown name: info
std::string_view LogLevelName(LogLevel level);       // "debug", "info", "warning", "error"

// Returns the first `bytes_max` bytes of `text` as a line for a terminal: an invisible character,
// or a character that changes the direction of writing, becomes \xNN or \u{NNNN}.
std::string PrintableLine(std::string_view text, size_t bytes_max = kLogTextBytesMax);

// Returns the record as a line of JSON, with its newline. All texts are made printable.
std::string EncodeLogRecord(const LogRecord& record);
// INVALID_ARGUMENT: the line is no record, or was cut off. Unknown keys are skipped.
absl::StatusOr<LogRecord> DecodeLogRecord(std::string_view line);

// Returns the stem of the names of a worker's files, made from the worker's name: a plain file name
// of at most 120 bytes. No two workers have the same stem.
std::string LogFileStem(std::string_view worker);

}  // namespace galley::director
