// Logs: one line per event, `key=value`, on standard error (and, for a director, its log file).
// Control characters are escaped.
//
//   LogInfo("worker={} attached slots={}", id, slots);
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "fmt/format.h"

namespace galley {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// The log of a process that stays: a file that has grown to so many bytes becomes <file>.1, which
// becomes <file>.2, and so on: so many are kept.
struct LogRotation {
  size_t file_bytes = 16 << 20;
  size_t files = 4;
};

// Before any thread starts. `program` stands in each line; `file` may be empty (then standard
// error).
void InitLog(std::string_view program, LogLevel level, const std::string& file);
void InitLog(std::string_view program, LogLevel level, const std::string& file,
             const LogRotation& rotation);
void WriteLog(LogLevel level, std::string_view line);
// Is told of each line that is written from now on, escaped and without its time. It is called on
// the thread that logs, which may hold any lock: it must be short, and take no lock under which
// anybody logs. Before any thread starts; for the process's life.
void SetLogObserver(std::function<void(LogLevel level, std::string_view line)> observer);
// Printable form: control characters as \xNN.
std::string EscapeControl(std::string_view text);
// The same but for line feeds: for what others said, on a terminal. Its lines stay lines.
std::string EscapeControlInLines(std::string_view text);

template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  WriteLog(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  WriteLog(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  WriteLog(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  WriteLog(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace galley
