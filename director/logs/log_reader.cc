#include "director/logs/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <string_view>

#include "common/base/file.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kFileEnd = ".jsonl";
constexpr uint64_t kFileBytesMax = 64 << 20;  // far above the sizes of WorkerLogs
constexpr size_t kFilesMax = 10'000;

// Returns the older file of a worker before its present file.
std::vector<std::string> FilesIn(const std::string& folder, const std::string& stem) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().native();
    if (!name.ends_with(kFileEnd) || files.size() >= kFilesMax) continue;
    if (!stem.empty() && name.substr(0, name.find('.')) != stem) continue;
    files.push_back(entry.path().native());
  }
  std::ranges::sort(files, [](const std::string& a, const std::string& b) {
    const auto key = [](const std::string& path) {
      return std::pair(path.substr(0, path.find('.', path.rfind('/'))),
                       !path.ends_with(".old.jsonl"));
    };
    return key(a) < key(b);
  });
  return files;
}

}  // namespace

absl::StatusOr<LogRecord> DecodeDirectorLine(std::string_view line) {
  constexpr size_t kTimeBytes = 23;
  LogRecord record{.worker = kDirectorName, .from = LogRecord::From::kDirector};
  std::string error;
  const std::string time(line.substr(0, kTimeBytes));
  if (!absl::ParseTime("%Y-%m-%dT%H:%M:%E3S", time, absl::LocalTimeZone(), &record.time, &error))
    return absl::InvalidArgumentError("expected a time");
  line.remove_prefix(kTimeBytes);
  const size_t level_end = line.find(' ', 1);
  const size_t text = line.find("]: ");
  if (!line.starts_with(' ') || level_end == std::string_view::npos ||
      text == std::string_view::npos || text < level_end)
    return absl::InvalidArgumentError("expected a level, and a program with its number");
  record.level = LogLevelOf(line.substr(1, level_end - 1));
  record.text = PrintableLine(line.substr(text + 3));
  return record;
}

std::vector<LogRecord> LogReader::Read(const LogFilter& filter) {
  std::vector<LogRecord> records;
  const std::string stem = filter.worker.empty() ? "" : LogFileStem(filter.worker);
  for (const std::string& file : FilesIn(folder_, stem)) ReadFile(file, filter, records);
  if (!director_log_.empty() && (filter.worker.empty() || filter.worker == kDirectorName))
    ReadDirectorLog(filter, records);
  std::ranges::stable_sort(records,
                           [](const LogRecord& a, const LogRecord& b) { return a.time < b.time; });
  return records;
}

// Returns whole lines that were not read yet.
std::string LogReader::NewLines(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat stat {};
  if (!file.valid() || ::fstat(file.get(), &stat) != 0 || !S_ISREG(stat.st_mode)) return "";
  uint64_t& at = read_[{stat.st_dev, stat.st_ino}];
  const uint64_t size = static_cast<uint64_t>(stat.st_size);
  if (size < at) at = 0;  // another file has this number by now
  if (size == at) return "";
  at = std::max(at, size - std::min(size, kFileBytesMax));
  std::string bytes(size - at, '\0');
  const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  // A line that is being written has no end yet.
  bytes.resize(bytes.rfind('\n') + 1);
  at += bytes.size();
  return bytes;
}

void LogReader::ReadFile(const std::string& path, const LogFilter& filter,
                         std::vector<LogRecord>& records) {
  const std::string bytes = NewLines(path);
  const std::string worker = PrintableLine(filter.worker, kLogNameBytesMax);
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    absl::StatusOr<LogRecord> record = DecodeLogRecord(line);
    if (!record.ok()) {
      ++skipped_;
    } else if (record->time >= filter.since && (worker.empty() || record->worker == worker)) {
      records.push_back(*std::move(record));
    }
  }
}

// Lines of other programs that wrote to the file are left out.
void LogReader::ReadDirectorLog(const LogFilter& filter, std::vector<LogRecord>& records) {
  const std::string stem = director_log_.substr(0, director_log_.rfind(".log"));
  std::vector<std::string> files;
  for (size_t i = LogRotation().files; i > 0; --i)
    files.push_back(fmt::format("{}.{}.log", stem, i));
  files.push_back(director_log_);
  for (const std::string& file : files) {
    const std::string bytes = NewLines(file);
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      absl::StatusOr<LogRecord> record = DecodeDirectorLine(line);
      if (record.ok() && record->time >= filter.since && !record->text.starts_with("worker="))
        records.push_back(*std::move(record));
    }
  }
}

std::vector<std::string> LogReader::Workers() const {
  std::set<std::string> workers;
  for (const LogRecord& record : LogReader(folder_, director_log_).Read())
    workers.insert(record.worker);
  return {workers.begin(), workers.end()};
}

}  // namespace galley::director
