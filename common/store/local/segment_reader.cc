#include "common/store/local/segment_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/interface/check_bytes.h"
#include "common/store/interface/store.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_writer.h"

namespace galley::store {
namespace {

constexpr size_t kWindowBytes = 1 << 20;

absl::StatusOr<FileDescriptor> OpenToRead(const std::string& path) {
  return OpenStored(path, kSegmentMode);
}

// At most `size` bytes: fewer at the end of the file. An unreadable place is lost.
absl::StatusOr<std::string> ReadAt(int fd, uint64_t offset, uint64_t size,
                                   const std::string& path) {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EIO)
      return DataLossError("{} cannot be read at offset {}", path, offset + done);
    if (count < 0 && errno == EISDIR) return DataLossError("{}: a folder lies in its place", path);
    if (count < 0) return ErrnoStatus(errno, "read", path);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

absl::StatusOr<RecordHeader> ReadHeaderFrom(int fd, uint64_t segment, uint64_t offset,
                                            const std::string& path) {
  if (offset < kSegmentHeaderBytes || offset >= kSegmentBytesLimit) {
    return DataLossError("{}: no record can begin at offset {}", path, offset);
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadAt(fd, offset, kRecordHeaderBytes, path));
  return DecodeRecordHeader(bytes, segment, offset);
}

absl::StatusOr<Record> ReadRecordFrom(int fd, uint64_t segment, uint64_t offset,
                                      const std::string& path) {
  Record record;
  ASSIGN_OR_RETURN(record.header, ReadHeaderFrom(fd, segment, offset, path));
  ASSIGN_OR_RETURN(record.payload,
                   ReadAt(fd, offset + kRecordHeaderBytes, record.header.payload_bytes, path));
  if (record.payload.size() != record.header.payload_bytes ||
      Checksum(record.payload) != record.header.payload_checksum) {
    return DataLossError("segment {:016x} offset {}: the record's bytes are wrong", segment,
                         offset);
  }
  return record;
}

// The file seen through a window that moves forward.
class Window {
 public:
  Window(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  // `size` bytes at `offset`, fewer at the end of the file or where it cannot be read. Valid until
  // the next call.
  absl::StatusOr<std::string_view> At(uint64_t offset, uint64_t size) {
    if (offset < begin_ || offset + size > begin_ + bytes_.size()) {
      absl::StatusOr<std::string> bytes =
          ReadAt(fd_, offset, std::max<uint64_t>(size, kWindowBytes), path_);
      if (bytes.status().code() == absl::StatusCode::kDataLoss) bytes = std::string();
      RETURN_IF_ERROR(bytes.status());
      begin_ = offset;
      bytes_ = *std::move(bytes);
    }
    return std::string_view(bytes_).substr(offset - begin_, size);
  }

 private:
  const int fd_;
  const std::string path_;
  uint64_t begin_ = 0;
  std::string bytes_;
};

class Scanner {
 public:
  Scanner(int fd, uint64_t segment, uint64_t size, const std::string& path,
          const RecordVisitor& visit)
      : window_(fd, path), segment_(segment), visit_(visit) {
    report_.size_bytes = size;
  }

  absl::StatusOr<ScanReport> Run(uint64_t from) {
    uint64_t offset = from;
    report_.whole_end = from;
    while (offset < report_.size_bytes) {
      ASSIGN_OR_RETURN(const uint64_t next, One(offset));
      offset = next;
    }
    return std::move(report_);
  }

 private:
  // Handles what begins at `offset`; where to go on.
  absl::StatusOr<uint64_t> One(uint64_t offset) {
    ASSIGN_OR_RETURN(const std::string_view bytes, window_.At(offset, kRecordHeaderBytes));
    const absl::StatusOr<RecordHeader> header = DecodeRecordHeader(bytes, segment_, offset);
    if (!header.ok()) return NextHeader(offset + kRecordAlignment);
    ASSIGN_OR_RETURN(const std::string_view payload,
                     window_.At(offset + kRecordHeaderBytes, header->payload_bytes));
    const uint64_t end = offset + RecordSpan(header->payload_bytes);
    if (payload.size() != header->payload_bytes || Checksum(payload) != header->payload_checksum) {
      return NextHeader(offset + kRecordAlignment);
    }
    if (offset != report_.whole_end)
      report_.damaged.push_back(
          {.offset = report_.whole_end, .size_bytes = offset - report_.whole_end});
    report_.whole_end = std::min(end, report_.size_bytes);
    RETURN_IF_ERROR(visit_(offset, *header, payload));
    RETURN_IF_ERROR(CheckPadding(offset + kRecordHeaderBytes + header->payload_bytes));
    return end;
  }

  // From `offset` to the end of the last record. No checksum is of it.
  absl::Status CheckPadding(uint64_t offset) {
    const uint64_t size = report_.whole_end - std::min(offset, report_.whole_end);
    ASSIGN_OR_RETURN(const std::string_view zeros, window_.At(offset, size));
    if (zeros.find_first_not_of('\0') != std::string_view::npos)
      report_.damaged.push_back({.offset = offset, .size_bytes = size});
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> NextHeader(uint64_t offset) {
    for (; offset < report_.size_bytes; offset += kRecordAlignment) {
      ASSIGN_OR_RETURN(const std::string_view bytes, window_.At(offset, kRecordHeaderBytes));
      if (DecodeRecordHeader(bytes, segment_, offset).ok()) break;
    }
    return offset;
  }

  Window window_;
  const uint64_t segment_;
  const RecordVisitor& visit_;
  ScanReport report_;
};

absl::StatusOr<Blob> CheckedBlob(const Digest& digest, std::string bytes, std::string_view where) {
  if (!AreBytesOf(digest, bytes)) {
    return DataLossError("blob {}: its bytes in {} are wrong", digest.ToString(), where);
  }
  return MakeBlob(std::move(bytes));
}

absl::Status GoneIsLoss(const absl::Status& status) {
  return status.code() == absl::StatusCode::kNotFound ? absl::DataLossError(status.message())
                                                      : status;
}

absl::StatusOr<Blob> ReadBlobFile(const std::string& store_directory, const Digest& digest) {
  const std::string path = BlobFilePath(store_directory, digest);
  absl::StatusOr<FileDescriptor> file = OpenStored(path, kBlobFileMode);
  if (!file.ok()) return GoneIsLoss(file.status());
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file->get(), path));
  if (stat.size_bytes != digest.size_bytes()) {
    return DataLossError("blob {}: {} has {} bytes", digest.ToString(), path, stat.size_bytes);
  }
  ASSIGN_OR_RETURN(std::string bytes, ReadAt(file->get(), 0, digest.size_bytes(), path));
  return CheckedBlob(digest, std::move(bytes), path);
}

}  // namespace

absl::StatusOr<SegmentHeader> ReadSegmentHeader(const std::string& store_directory,
                                                uint64_t segment, std::string_view store_id) {
  const std::string path = SegmentPath(store_directory, segment);
  ASSIGN_OR_RETURN(const FileDescriptor file, OpenToRead(path));
  ASSIGN_OR_RETURN(const std::string bytes, ReadAt(file.get(), 0, kSegmentHeaderBytes, path));
  ASSIGN_OR_RETURN(SegmentHeader header, DecodeSegmentHeader(bytes, segment));
  if (!store_id.empty() && header.store_id != store_id) {
    return DataLossError("{} belongs to store {}, not to {}", path, header.store_id, store_id);
  }
  return header;
}

absl::StatusOr<RecordHeader> ReadRecordHeader(const std::string& store_directory, uint64_t segment,
                                              uint64_t offset) {
  return RecordHeaders(store_directory).Read(segment, offset);
}

absl::StatusOr<RecordHeader> RecordHeaders::Read(uint64_t segment, uint64_t offset) {
  auto at = open_.find(segment);
  if (at == open_.end()) {
    OpenSegment opened{.path = SegmentPath(store_directory_, segment)};
    ASSIGN_OR_RETURN(opened.file, OpenToRead(opened.path));
    ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(opened.file.get(), opened.path));
    opened.size_bytes = stat.size_bytes;
    if (open_.size() >= kOpenMax) open_.clear();
    at = open_.emplace(segment, std::move(opened)).first;
  }
  const auto& [path, file, size_bytes] = at->second;
  ASSIGN_OR_RETURN(RecordHeader header, ReadHeaderFrom(file.get(), segment, offset, path));
  if (size_bytes < offset + kRecordHeaderBytes + header.payload_bytes) {
    return DataLossError("segment {:016x} offset {}: the record is cut off", segment, offset);
  }
  return header;
}

absl::StatusOr<Record> ReadRecord(const std::string& store_directory, uint64_t segment,
                                  uint64_t offset) {
  const std::string path = SegmentPath(store_directory, segment);
  ASSIGN_OR_RETURN(const FileDescriptor file, OpenToRead(path));
  return ReadRecordFrom(file.get(), segment, offset, path);
}

absl::StatusOr<ScanReport> ScanSegment(const std::string& store_directory, uint64_t segment,
                                       uint64_t from, const RecordVisitor& visit, uint64_t end) {
  const std::string path = SegmentPath(store_directory, segment);
  ASSIGN_OR_RETURN(const FileDescriptor file, OpenToRead(path));
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file.get(), path));
  return Scanner(file.get(), segment, std::min(stat.size_bytes, end), path, visit)
      .Run(std::max(from, kSegmentHeaderBytes));
}

absl::StatusOr<Blob> ReadBlobAt(const std::string& store_directory, const Digest& digest,
                                const BlobLocation& location) {
  if (digest.size_bytes() == 0) return CheckedBlob(digest, "", "the empty blob");
  if (location.segment == 0) return ReadBlobFile(store_directory, digest);
  const std::string path = SegmentPath(store_directory, location.segment);
  const absl::StatusOr<FileDescriptor> file = OpenToRead(path);
  if (!file.ok()) return GoneIsLoss(file.status());
  ASSIGN_OR_RETURN(Record record,
                   ReadRecordFrom(file->get(), location.segment, location.offset, path));
  if (record.header.kind != RecordKind::kBlob || record.header.key != digest) {
    return DataLossError("blob {}: another record lies at offset {} of {}", digest.ToString(),
                         location.offset, path);
  }
  return CheckedBlob(digest, std::move(record.payload), path);
}

}  // namespace galley::store
