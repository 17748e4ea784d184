#include "director/logs/worker_logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kWorkersMax = 4'096;  // whose rates are known at a time
constexpr uint64_t kTrimParts = 16;    // a sixteenth of the quotas may come before the next look
constexpr const char* kEnd = ".jsonl";
constexpr const char* kOldEnd = ".old.jsonl";

}  // namespace

WorkerLogs::WorkerLogs(WorkerLogsOptions options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

WorkerLogs::~WorkerLogs() {
  std::optional<std::thread> thread;
  {
    base::MutexLock lock(mutex_);
    is_ending_ = true;
    changed_.NotifyAll();
    thread.swap(thread_);
  }
  if (thread.has_value()) thread->join();
}

bool WorkerLogs::HasRoom(Waiting& of, uint64_t bytes) {
  const absl::Time now = clock_.Monotonic();
  const double since = absl::ToDoubleSeconds(now - of.filled);
  of.room = std::min(static_cast<double>(options_.worker_burst_bytes),
                     of.room + since * static_cast<double>(options_.worker_bytes_per_second));
  of.filled = now;
  if (of.room < static_cast<double>(bytes) || waiting_bytes_ + bytes > options_.waiting_bytes_max)
    return false;
  of.room -= static_cast<double>(bytes);
  return true;
}

// A worker may choose another name each time.
void WorkerLogs::ForgetIdle() {
  if (workers_.size() < kWorkersMax) return;
  std::erase_if(workers_, [](const auto& one) { return one.second.bytes.empty(); });
}

bool WorkerLogs::Add(const LogRecord& record) {
  std::string line = EncodeLogRecord(record);
  const std::string stem = LogFileStem(record.worker);
  base::MutexLock lock(mutex_);
  if (is_ending_) return false;
  ForgetIdle();
  const auto [found, is_new] = workers_.try_emplace(stem);
  Waiting& of = found->second;
  if (is_new) {
    of.room = static_cast<double>(options_.worker_burst_bytes);
    of.filled = clock_.Monotonic();
  }
  if (!HasRoom(of, line.size())) {
    ++of.left_out;
    return false;
  }
  if (of.left_out > 0) {
    LogRecord told{.time = record.time,
                   .worker = record.worker,
                   .from = LogRecord::From::kDirector,
                   .level = LogLevel::kWarning};
    told.text = fmt::format("{} lines of this worker were left out: they came too fast",
                            std::exchange(of.left_out, 0));
    line = EncodeLogRecord(told) + line;
  }
  waiting_bytes_ += line.size();
  of.bytes += line;
  if (!thread_.has_value()) thread_.emplace([this] { Run(); });
  changed_.NotifyAll();
  return true;
}

void WorkerLogs::Run() {
  while (true) {
    Batch batch;
    {
      base::MutexLock lock(mutex_);
      while (waiting_bytes_ == 0 && !is_ending_) changed_.Wait(mutex_);
      if (waiting_bytes_ == 0) return;
      for (auto& [stem, waiting] : workers_) {
        if (!waiting.bytes.empty()) batch[stem] = std::exchange(waiting.bytes, {});
      }
      waiting_bytes_ = 0;
    }
    Write(batch);
  }
}

void WorkerLogs::Write(const Batch& batch) {
  absl::Status status = options_.may_write ? options_.may_write() : absl::OkStatus();
  if (status.ok()) status = CreateDirectories(options_.folder);
  for (const auto& [stem, lines] : batch) {
    if (status.ok()) status = Append(stem, lines);
    written_ += lines.size();
    if (status.ok()) TrimIfDue();
  }
  if (!status.ok() && !std::exchange(has_told_error_, true))
    LogWarning("what workers log is not kept: {}", MessageOf(status));
  if (status.ok()) has_told_error_ = false;
}

void WorkerLogs::TrimIfDue() {
  if (written_ < options_.bytes_max / kTrimParts) return;
  written_ = 0;
  Trim();
}

absl::Status WorkerLogs::Append(const std::string& stem, std::string_view lines) {
  const std::string path = JoinPath(options_.folder, stem + kEnd);
  const auto open = [&] {
    return FileDescriptor(::open(
        path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  };
  FileDescriptor file = open();
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  ASSIGN_OR_RETURN(FileStat stat, StatDescriptor(file.get(), path));
  const uint64_t half = options_.worker_bytes_max / 2;
  // However little workers say, a flood of new names is a flood of files.
  if (stat.size_bytes == 0) written_ += options_.bytes_max / options_.files_max;
  if (stat.size_bytes > 0 && stat.size_bytes + lines.size() > half) {
    const std::string old = JoinPath(options_.folder, stem + kOldEnd);
    if (std::rename(path.c_str(), old.c_str()) != 0) return ErrnoStatus(errno, "rename", path);
    file = open();
    if (!file.valid()) return ErrnoStatus(errno, "open", path);
    stat.size_bytes = 0;
    written_ = std::max(written_, options_.bytes_max / kTrimParts);  // one file more
  }
  // The part of a line that a dead director left stays a line of its own.
  char last = '\n';
  if (stat.size_bytes > 0 &&
      ::pread(file.get(), &last, 1, static_cast<off_t>(stat.size_bytes - 1)) == 1 && last != '\n')
    RETURN_IF_ERROR(WriteAll(file.get(), "\n", path));
  // A batch is no larger than what may wait.
  return WriteAll(file.get(), lines.substr(lines.size() > half ? lines.size() - half : 0), path);
}

void WorkerLogs::Trim() {
  struct File {
    std::filesystem::file_time_type written;
    std::string path;
    uint64_t bytes = 0;
  };
  std::vector<File> files;
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.folder, error)) {
    std::error_code gone;
    if (!entry.path().native().ends_with(kEnd) || !entry.is_regular_file(gone)) continue;
    File file{.written = entry.last_write_time(gone), .path = entry.path().native()};
    file.bytes = entry.file_size(gone);
    if (gone) continue;
    bytes += file.bytes;
    files.push_back(std::move(file));
  }
  std::ranges::sort(files, [](const File& a, const File& b) {
    return std::pair(a.written, std::string_view(a.path)) <
           std::pair(b.written, std::string_view(b.path));
  });
  size_t count = files.size();
  for (const File& file : files) {
    if (bytes <= options_.bytes_max && count <= options_.files_max) return;
    if (::unlink(file.path.c_str()) != 0) continue;
    bytes -= file.bytes;
    --count;
  }
}

}  // namespace galley::director
