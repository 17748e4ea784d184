#include "common/base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include "common/base/status_macros.h"

namespace galley {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

// Leaked on purpose: threads may log while the process ends.
std::shared_ptr<spdlog::logger>& Logger() {
  static auto& logger = *new std::shared_ptr<spdlog::logger>([] {
    auto made = std::make_shared<spdlog::logger>("galley",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::warn);
    return made;
  }());
  return logger;
}

std::function<void(LogLevel, std::string_view)>& Observer() {
  static auto& observer = *new std::function<void(LogLevel, std::string_view)>();
  return observer;
}

void LogTo(std::string_view program, LogLevel level, std::shared_ptr<spdlog::sinks::sink> sink) {
  Logger() = std::make_shared<spdlog::logger>(std::string(program), std::move(sink));
  Logger()->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %n[%P]: %v");
  Logger()->set_level(ToSpdlog(level));
  Logger()->flush_on(spdlog::level::info);
}

}  // namespace

void InitLog(std::string_view program, LogLevel level, const std::string& file) {
  if (file.empty()) {
    LogTo(program, level, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  } else {
    LogTo(program, level, std::make_shared<spdlog::sinks::basic_file_sink_mt>(file));
  }
}

void InitLog(std::string_view program, LogLevel level, const std::string& file,
             const LogRotation& rotation) {
  LogTo(program, level,
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, rotation.file_bytes,
                                                               rotation.files));
}

void WriteLog(LogLevel level, std::string_view line) {
  const auto& logger = Logger();
  if (!logger->should_log(ToSpdlog(level))) return;
  const std::string escaped = EscapeControl(line);
  logger->log(ToSpdlog(level), "{}", escaped);
  if (Observer()) Observer()(level, escaped);
}

void SetLogObserver(std::function<void(LogLevel, std::string_view)> observer) {
  Observer() = std::move(observer);
}

std::string EscapeControl(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      escaped += fmt::format("\\x{:02x}", byte);
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

std::string EscapeControlInLines(std::string_view text) {
  std::string escaped;
  while (true) {
    const size_t end = text.find('\n');
    escaped += EscapeControl(text.substr(0, end));
    if (end == std::string_view::npos) return escaped;
    escaped += '\n';
    text.remove_prefix(end + 1);
  }
}

namespace internal {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "galley: bug: CHECK(%s) failed at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace internal
}  // namespace galley
