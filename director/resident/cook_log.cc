#include "director/resident/cook_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "director/host/outcome_status.h"

namespace galley::director {
namespace {

constexpr std::string_view kFirstLine = "galley-cook-log 1\n";
constexpr size_t kSizeBytes = 4;
constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kTracePartBytes = 1 << 20;

void PutSize(size_t size, std::string& out) {
  for (size_t i = 0; i < kSizeBytes; ++i) out.push_back(static_cast<char>(size >> (8 * i) & 0xff));
}

size_t SizeAt(std::string_view bytes) {
  size_t size = 0;
  for (size_t i = 0; i < kSizeBytes; ++i)
    size |= static_cast<size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return size;
}

// Takes the first event off `bytes`; false: `bytes` does not hold it whole.
bool TakeEvent(std::string& bytes, size_t& at, v1::CookEvent& event) {
  const std::string_view rest = std::string_view(bytes).substr(at);
  if (rest.size() < kSizeBytes || rest.size() - kSizeBytes < SizeAt(rest)) return false;
  event.Clear();
  (void)event.ParseFromArray(rest.data() + kSizeBytes, static_cast<int>(SizeAt(rest)));
  at += kSizeBytes + SizeAt(rest);
  if (at == bytes.size() || at > kReadBytes) {
    bytes.erase(0, at);
    at = 0;
  }
  return true;
}

// Returns the report of a cook whose director died before the report.
v1::CookReport ReportOfTheDead() {
  v1::CookReport report;
  const absl::Status end =
      Infrastructure("the director ended before this cook did; ask for the cook again");
  report.set_end_code(static_cast<int32_t>(end.code()));
  report.set_end_text(MessageOf(end));
  report.set_snapshot(Digest::Of("").ToString());
  return report;
}

}  // namespace

class CookLog::Reader final : public CookReader {
 public:
  explicit Reader(std::shared_ptr<CookLog> log) : log_(std::move(log)) { ++log_->readers_; }
  ~Reader() override { --log_->readers_; }

  Got Next(absl::Duration patience, v1::CookEvent& event) override {
    while (true) {
      if (TakeEvent(bytes_, at_, event)) {
        is_reported_ |= event.has_report();
        return Got::kEvent;
      }
      if (is_reported_) return NextOfTrace(event);
      const Source source = Look(patience, event);
      if (source == Source::kProgress) return Got::kEvent;
      if (source == Source::kNothing) return Got::kNothingYet;
      if (source == Source::kFile && !ReadFile()) return Got::kEnd;
    }
  }

 private:
  enum class Source { kNothing, kFile, kMemory, kProgress };

  // Decides where the next bytes are; takes bytes that are in memory.
  Source Look(absl::Duration patience, v1::CookEvent& event) {
    base::MutexLock lock(log_->mutex_);
    if (!HasMore()) log_->changed_.WaitFor(log_->mutex_, absl::ToChronoNanoseconds(patience));
    if (read_ < log_->written_) {
      until_ = log_->written_;
      return Source::kFile;
    }
    const size_t in_memory = static_cast<size_t>(read_ - log_->written_);
    if (in_memory < log_->buffer_.size()) {
      bytes_.append(log_->buffer_, in_memory);
      read_ += log_->buffer_.size() - in_memory;
      return Source::kMemory;
    }
    if (progress_read_ == log_->progress_number_) return Source::kNothing;
    progress_read_ = log_->progress_number_;
    event.Clear();
    *event.mutable_progress() = log_->progress_;
    return Source::kProgress;
  }
  bool HasMore() const GALLEY_REQUIRES(log_->mutex_) {
    return read_ < log_->written_ + log_->buffer_.size() ||
           progress_read_ != log_->progress_number_ || log_->is_over_;
  }

  bool ReadFile() {
    const size_t size = static_cast<size_t>(std::min<uint64_t>(kReadBytes, until_ - read_));
    const size_t before = bytes_.size();
    bytes_.resize(before + size);
    const ssize_t count =
        ::pread(log_->file_.get(), bytes_.data() + before, size, static_cast<off_t>(read_));
    bytes_.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count <= 0) return count < 0 && errno == EINTR;
    read_ += static_cast<uint64_t>(count);
    return true;
  }

  Got NextOfTrace(v1::CookEvent& event) {
    base::MutexLock lock(log_->mutex_);
    if (trace_read_ >= log_->trace_.size()) return Got::kEnd;
    event.Clear();
    event.set_trace(log_->trace_.substr(trace_read_, kTracePartBytes));
    trace_read_ += event.trace().size();
    return Got::kEvent;
  }

  const std::shared_ptr<CookLog> log_;
  std::string bytes_;  // read, not yet told; from at_ on
  size_t at_ = 0;
  uint64_t read_ = kFirstLine.size();  // place in the log after `bytes_`
  uint64_t until_ = 0;                 // the file may be read up to here
  uint64_t progress_read_ = 0;
  size_t trace_read_ = 0;
  bool is_reported_ = false;
};

std::shared_ptr<CookLog> CookLog::Begin(const std::string& path, const Limits& limits) {
  absl::Status made = EnsureWritableFile(path);
  FileDescriptor file;
  if (made.ok()) {
    file = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid()) made = ErrnoStatus(errno, "make", path);
  }
  if (!made.ok()) LogWarning("what happens in this cook is not kept: {}", MessageOf(made));
  auto log = std::shared_ptr<CookLog>(new CookLog(std::move(file), limits));
  base::MutexLock lock(log->mutex_);
  log->buffer_ = kFirstLine;
  return log;
}

absl::StatusOr<std::shared_ptr<CookLog>> CookLog::Open(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid() && errno == ENOENT) return absl::NotFoundError(path);
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file.get(), path));
  std::string first(kFirstLine.size(), '\0');
  if (::pread(file.get(), first.data(), first.size(), 0) != static_cast<ssize_t>(first.size()) ||
      first != kFirstLine)
    return DataLossError("{} is no log of a cook, or of another version", path);
  // When the director died, the last event may be cut off, or the report be missing.
  uint64_t whole = kFirstLine.size();
  bool is_reported = false;
  std::string size(kSizeBytes, '\0');
  while (!is_reported &&
         ::pread(file.get(), size.data(), kSizeBytes, static_cast<off_t>(whole)) == kSizeBytes) {
    const uint64_t next = whole + kSizeBytes + SizeAt(size);
    if (next > stat.size_bytes) break;
    std::string bytes(SizeAt(size), '\0');
    v1::CookEvent event;
    if (next == stat.size_bytes &&
        ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(whole + kSizeBytes)) ==
            static_cast<ssize_t>(bytes.size()))
      is_reported = event.ParseFromString(bytes) && event.has_report();
    whole = next;
  }
  auto log = std::shared_ptr<CookLog>(new CookLog(std::move(file), Limits()));
  base::MutexLock lock(log->mutex_);
  log->written_ = whole;
  log->is_over_ = true;
  if (!is_reported) {
    v1::CookEvent event;
    *event.mutable_report() = ReportOfTheDead();
    log->Add(event);
  }
  return log;
}

void CookLog::Append(const v1::CookEvent& event) {
  base::MutexLock lock(mutex_);
  if (is_over_) return;
  if (event.has_failed()) failed_.insert(event.failed().package());
  if (HasRoomFor(event)) {
    Add(event);
    if (buffer_.size() >= limits_.buffer_bytes) Flush();
  } else {
    ++missed_;
  }
  changed_.NotifyAll();
}

void CookLog::SetProgress(v1::CookProgress progress) {
  base::MutexLock lock(mutex_);
  progress_ = std::move(progress);
  ++progress_number_;
  changed_.NotifyAll();
}

void CookLog::End(const v1::CookReport& report, std::string trace) {
  base::MutexLock lock(mutex_);
  v1::CookEvent event;
  if (missed_ > 0) {
    event.set_missed(missed_);
    Add(event);
  }
  *event.mutable_report() = report;
  Add(event);
  Flush();
  trace_ = std::move(trace);
  is_over_ = true;
  changed_.NotifyAll();
}

bool CookLog::HasRoomFor(const v1::CookEvent& event) const {
  if (event.has_failed() || event.has_warned() || event.has_begun() || event.has_left() ||
      event.has_platforms() || (event.has_done() && failed_.contains(event.done().package())))
    return true;
  return written_ + buffer_.size() < limits_.file_bytes && buffer_.size() < limits_.unwritten_bytes;
}

void CookLog::Add(const v1::CookEvent& event) {
  const std::string bytes = event.SerializeAsString();
  PutSize(bytes.size(), buffer_);
  buffer_ += bytes;
}

// A part that was written before is written again, at the same place.
void CookLog::Flush() {
  if (!file_.valid()) return;
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t count = ::pwrite(file_.get(), buffer_.data() + done, buffer_.size() - done,
                                   static_cast<off_t>(written_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
  written_ += done;
  buffer_.clear();
}

std::unique_ptr<CookReader> CookLog::Read(std::shared_ptr<CookLog> log) {
  return std::make_unique<Reader>(std::move(log));
}

}  // namespace galley::director
