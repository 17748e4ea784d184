#include "director/launch/worker_record.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/repairs.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint64_t kRecordBytesMax = 16 << 10;
constexpr uint64_t kStatBytesMax = 4 << 10;
constexpr std::string_view kTemporary = ".new";
constexpr std::string_view kAside = ".broken-";  // PutAside
constexpr std::string_view kKind = "galley-worker";
constexpr int kVersion = 1;
constexpr int kStartedField = 22;  // proc(5)

std::string TextOf(const WorkerRecord& record) {
  return Seal(kKind, kVersion,
              {{"pid", fmt::format("{}", record.pid)},
               {"started", record.started},
               {"address", record.director_address},
               {"token", record.token}});
}

absl::StatusOr<WorkerRecord> Parse(std::string worker_id, const std::string& text) {
  ASSIGN_OR_RETURN(const std::vector<SealedLine> lines, Unseal(kKind, kVersion, text));
  WorkerRecord record{.worker_id = std::move(worker_id),
                      .started = std::string(ValueOf(lines, "started")),
                      .director_address = std::string(ValueOf(lines, "address")),
                      .token = std::string(ValueOf(lines, "token"))};
  if (!absl::SimpleAtoi(std::string(ValueOf(lines, "pid")), &record.pid) || record.pid <= 1 ||
      record.started.empty() || record.token.empty())
    return absl::DataLossError("it names no process");
  return record;
}

// nullopt: the record belongs to no living process. An unusable record is told: its worker, if it
// lives, ends by itself.
std::optional<WorkerRecord> ReadRecord(const std::string& path, std::string worker_id) {
  const absl::StatusOr<std::string> text = ReadOwnFile(path, kRecordBytesMax);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  absl::StatusOr<WorkerRecord> record =
      text.ok() ? Parse(std::move(worker_id), *text) : text.status();
  if (!record.ok()) {
    NoteRepair(
        fmt::format("{}: {}; if its worker lives, it ends by itself, and others were started", path,
                    MessageOf(record.status())));
    return std::nullopt;
  }
  if (StartOf(record->pid) != record->started) return std::nullopt;
  return *std::move(record);
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
  return WritePrivateFile(path, TextOf(record));
}

void RemoveWorkerRecord(const std::string& folder, const std::string& worker_id) {
  ::unlink(JoinPath(folder, worker_id).c_str());
}

std::vector<WorkerRecord> FindSurvivors(const std::string& folder) {
  std::vector<WorkerRecord> survivors;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    const std::string name = entry.path().filename().string();
    if (name.find(kAside) != std::string::npos) continue;
    std::optional<WorkerRecord> record;
    if (entry.path().extension() != kTemporary) record = ReadRecord(path, name);
    if (record) {
      survivors.push_back(*std::move(record));
    } else {
      ::unlink(path.c_str());
    }
  }
  std::ranges::sort(survivors, [](const WorkerRecord& a, const WorkerRecord& b) {
    return a.worker_id < b.worker_id;
  });
  return survivors;
}

}  // namespace galley::director
