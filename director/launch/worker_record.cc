#include "director/launch/worker_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint64_t kRecordBytesMax = 16 << 10;
constexpr uint64_t kStatBytesMax = 4 << 10;
constexpr std::string_view kTemporary = ".new";
constexpr int kStartedField = 22;  // proc(5)

std::optional<WorkerRecord> Parse(std::string worker_id, const std::string& text) {
  std::istringstream lines(text);
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) values[line.substr(0, space)] = line.substr(space + 1);
  }
  WorkerRecord record{.worker_id = std::move(worker_id),
                      .pid = static_cast<pid_t>(std::strtol(values["pid"].c_str(), nullptr, 10)),
                      .started = values["started"],
                      .director_address = values["address"],
                      .token = values["token"]};
  if (record.pid <= 1 || record.started.empty() || record.token.empty()) return std::nullopt;
  return record;
}

}  // namespace

std::string StartOf(pid_t pid) {
  const auto stat = ReadFile(fmt::format("/proc/{}/stat", pid), kStatBytesMax);
  auto boot = ReadFile("/proc/sys/kernel/random/boot_id", kStatBytesMax);
  if (!stat.ok() || !boot.ok()) return "";
  // The second field is a name in parentheses, which may hold anything.
  std::istringstream fields(stat->substr(std::min(stat->size(), stat->rfind(')') + 1)));
  std::string field;
  for (int i = 3; i <= kStartedField; ++i) {
    fields >> field;
    if (i == 3 && field == "Z") return "";
  }
  while (!boot->empty() && boot->back() == '\n') boot->pop_back();
  return fmt::format("{}@{}", field, *boot);
}

absl::Status WriteWorkerRecord(const std::string& folder, WorkerRecord record) {
  record.started = StartOf(record.pid);
  const std::string path = JoinPath(folder, record.worker_id);
  RETURN_IF_ERROR(CreateDirectories(folder));
  const std::string temporary = path + std::string(kTemporary);
  {
    FileDescriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.valid()) return ErrnoStatus(errno, "make", temporary);
    RETURN_IF_ERROR(WriteAll(file.get(),
                             fmt::format("pid {}\nstarted {}\naddress {}\ntoken {}\n", record.pid,
                                         record.started, record.director_address, record.token),
                             temporary));
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, "rename", path);
  return absl::OkStatus();
}

void RemoveWorkerRecord(const std::string& folder, const std::string& worker_id) {
  ::unlink(JoinPath(folder, worker_id).c_str());
}

std::vector<WorkerRecord> FindSurvivors(const std::string& folder) {
  std::vector<WorkerRecord> survivors;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    const auto text = ReadFile(path, kRecordBytesMax);
    std::optional<WorkerRecord> record;
    if (text.ok() && entry.path().extension() != kTemporary)
      record = Parse(entry.path().filename().string(), *text);
    if (record && StartOf(record->pid) == record->started) {
      survivors.push_back(*std::move(record));
    } else {
      ::unlink(path.c_str());
    }
  }
  std::sort(survivors.begin(), survivors.end(),
            [](const WorkerRecord& a, const WorkerRecord& b) { return a.worker_id < b.worker_id; });
  return survivors;
}

}  // namespace galley::director
