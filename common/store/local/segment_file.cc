#include "common/store/local/segment_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_reader.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

absl::Status LockForWriting(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock", path);
  return absl::FailedPreconditionError(
      fmt::format("{} has a writer already: each writer needs a segment of its own", path));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SegmentFile>> SegmentFile::Create(const std::string& store_directory,
                                                                 const SegmentHeader& header) {
  std::string path = SegmentPath(store_directory, header.number);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.valid()) return ErrnoStatus(errno, "create", path);
  absl::Status status = LockForWriting(file.get(), path);
  if (status.ok()) status = WriteAll(file.get(), EncodeSegmentHeader(header), path);
  if (!status.ok()) {
    ::unlink(path.c_str());
    return status;
  }
  return std::unique_ptr<SegmentFile>(
      new SegmentFile(std::move(file), std::move(path), header, kSegmentHeaderBytes, 0));
}

absl::StatusOr<std::unique_ptr<SegmentFile>> SegmentFile::Open(const std::string& store_directory,
                                                               uint64_t segment) {
  std::string path = SegmentPath(store_directory, segment);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  RETURN_IF_ERROR(LockForWriting(file.get(), path));
  ASSIGN_OR_RETURN(const SegmentHeader header, ReadSegmentHeader(store_directory, segment));
  const auto pass = [](uint64_t, const RecordHeader&, std::string_view) {
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const ScanReport report,
                   ScanSegment(store_directory, segment, kSegmentHeaderBytes, pass));
  if (report.whole_end != report.size_bytes &&
      ::ftruncate(file.get(), static_cast<off_t>(report.whole_end)) != 0) {
    return ErrnoStatus(errno, "cut the torn tail of", path);
  }
  return std::unique_ptr<SegmentFile>(new SegmentFile(std::move(file), std::move(path), header,
                                                      report.whole_end, report.whole_end));
}

// The pieces one after the other.
absl::Status SegmentFile::WriteAt(uint64_t offset, std::span<iovec> pieces) {
  while (!pieces.empty()) {
    const ssize_t count = ::pwritev(file_.get(), pieces.data(), static_cast<int>(pieces.size()),
                                    static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "write", path_);
    offset += static_cast<uint64_t>(count);
    auto left = static_cast<size_t>(count);
    while (!pieces.empty() && left >= pieces.front().iov_len) {
      left -= pieces.front().iov_len;
      pieces = pieces.subspan(1);
    }
    if (pieces.empty()) break;
    pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + left;
    pieces.front().iov_len -= left;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SegmentFile::Append(RecordKind kind, const Digest& key,
                                             std::string_view payload) {
  if (broken_)
    return absl::InternalError(
        fmt::format("{} ends with a torn record that could not be cut off", path_));
  if (payload.size() > kRecordPayloadBytesMax ||
      size_ + RecordSpan(payload.size()) > kSegmentBytesEver) {
    return absl::InvalidArgumentError(
        fmt::format("a record of {} bytes is too long for a segment", payload.size()));
  }
  const uint64_t offset = size_;
  const RecordHeader header{.kind = kind,
                            .payload_bytes = payload.size(),
                            .written_s = static_cast<uint64_t>(::time(nullptr)),
                            .key = key,
                            .payload_checksum = Checksum(payload)};
  std::string begin = EncodeRecordHeader(header, number_, offset);
  char padding[kRecordAlignment] = {};
  const uint64_t span = RecordSpan(payload.size());
  iovec pieces[] = {{begin.data(), begin.size()},
                    {const_cast<char*>(payload.data()), payload.size()},
                    {padding, span - begin.size() - payload.size()}};
  if (const absl::Status status = WriteAt(offset, pieces); !status.ok()) {
    broken_ = ::ftruncate(file_.get(), static_cast<off_t>(offset)) != 0;
    return status;
  }
  size_ = offset + span;
  return offset;
}

void SegmentFile::CutToSynced() {
  broken_ = true;
  if (::ftruncate(file_.get(), static_cast<off_t>(synced_.load())) != 0) {
    LogWarning("segment={} what was not synced could not be cut off: {}", path_,
               MessageOf(ErrnoStatus(errno, "truncate", path_)));
  }
}

}  // namespace galley::store
