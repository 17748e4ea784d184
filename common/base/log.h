// Logs: one line per event, `key=value`, on standard error or in a log file. Control characters are
// escaped.
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

// LogRotation: bounds the log of a long-running process. A file of `file_bytes` becomes <file>.1,
// which becomes <file>.2, and so on; `files` of these are kept.
struct LogRotation {
  size_t file_bytes = 16 << 20;
  size_t files = 4;
};

// Call before any thread starts. `program` stands in each line. `file` empty: standard error.
void InitLog(std::string_view program, LogLevel level, const std::string& file);
void InitLog(std::string_view program, LogLevel level, const std::string& file,
             const LogRotation& rotation);
void WriteLog(LogLevel level, std::string_view line);
// Sets a function that gets each line that is written from now on, escaped and without its time.
// The function runs on the thread that logs, which may hold any lock: it must be short, and take no
// lock under which anybody logs. Call before any thread starts; the observer stays for the life of
// the process.
void SetLogObserver(std::function<void(LogLevel level, std::string_view line)> observer);
// Replaces control characters by \xNN.
std::string EscapeControl(std::string_view text);
// EscapeControl for each line, with line feeds kept: for the output of others on a terminal.
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
