#include "common/store/local/segment_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_reader.h"

namespace galley::store {
namespace {

absl::Status LockForWriting(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock", path);
  return FailedPreconditionError("{} has a writer already: each writer needs a segment of its own",
                                 path);
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
                                                               uint64_t segment,
                                                               uint64_t whole_until) {
  std::string path = SegmentPath(store_directory, segment);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  RETURN_IF_ERROR(LockForWriting(file.get(), path));
  ASSIGN_OR_RETURN(const SegmentHeader header, ReadSegmentHeader(store_directory, segment));
  const auto pass = [](uint64_t, const RecordHeader&, std::string_view) {
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const ScanReport report,
                   ScanSegment(store_directory, segment, whole_until, pass));
  if (report.size_bytes < whole_until) return DataLossError("{} is shorter than it was", path);
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
    const auto at_once = static_cast<int>(std::min<size_t>(pieces.size(), IOV_MAX));
    const ssize_t count =
        ::pwritev(file_.get(), pieces.data(), at_once, static_cast<off_t>(offset));
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

absl::Status SegmentFile::CheckRoom(std::span<const KeyedPayload> records) const {
  uint64_t end = size_;
  for (const KeyedPayload& record : records) {
    end += RecordSpan(record.payload.size());
    if (record.payload.size() > kRecordPayloadBytesMax || end > kSegmentBytesLimit) {
      return InvalidArgumentError("a record of {} bytes is too long for a segment",
                                  record.payload.size());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SegmentFile::Append(RecordKind kind, const Digest& key,
                                             std::string_view payload, uint64_t written_s) {
  const KeyedPayload record{.key = key, .payload = payload, .written_s = written_s};
  return Append(kind, std::span(&record, 1));
}

absl::StatusOr<uint64_t> SegmentFile::Append(RecordKind kind,
                                             std::span<const KeyedPayload> records) {
  if (broken_) return InternalError("{} ends with a torn record that could not be cut off", path_);
  RETURN_IF_ERROR(CheckRoom(records));
  const uint64_t begin = size_;
  const auto now = static_cast<uint64_t>(::time(nullptr));
  static constexpr char kPadding[kRecordAlignment] = {};
  std::vector<std::string> headers(records.size());
  std::vector<iovec> pieces;
  pieces.reserve(3 * records.size());
  uint64_t offset = begin;
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string_view payload = records[i].payload;
    headers[i] =
        EncodeRecordHeader({.kind = kind,
                            .payload_bytes = payload.size(),
                            .written_s = records[i].written_s != 0 ? records[i].written_s : now,
                            .key = records[i].key,
                            .payload_checksum = Checksum(payload)},
                           number_, offset);
    const uint64_t span = RecordSpan(payload.size());
    pieces.push_back({headers[i].data(), headers[i].size()});
    pieces.push_back({const_cast<char*>(payload.data()), payload.size()});
    pieces.push_back({const_cast<char*>(kPadding), span - headers[i].size() - payload.size()});
    offset += span;
  }
  if (const absl::Status status = WriteAt(begin, pieces); !status.ok()) {
    broken_ = ::ftruncate(file_.get(), static_cast<off_t>(begin)) != 0;
    return status;
  }
  size_ = offset;
  return begin;
}

bool SegmentFile::is_linked() const {
  struct stat stat {};
  return ::fstat(file_.get(), &stat) != 0 || stat.st_nlink > 0;
}

void SegmentFile::CutToSynced() {
  broken_ = true;
  if (::ftruncate(file_.get(), static_cast<off_t>(synced_.load())) != 0) {
    LogWarning("segment={} what was not synced could not be cut off: {}", path_,
               MessageOf(ErrnoStatus(errno, "truncate", path_)));
  }
}

}  // namespace galley::store
