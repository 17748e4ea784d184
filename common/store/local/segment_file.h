// SegmentFile: a segment that the owner or a worker appends to. Holds the file's flock, so that
// nobody else appends.
//
// Invariant: the file ends with a whole record, or this object is broken and refuses every call.
// Threads: one at a time appends; any may read and set the sizes meanwhile.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/store/local/segment_format.h"

namespace galley::store {

class SegmentFile {
 public:
  // Makes a file with its header. ALREADY_EXISTS: the number is taken.
  static absl::StatusOr<std::unique_ptr<SegmentFile>> Create(const std::string& store_directory,
                                                             const SegmentHeader& header);
  // Opens the file to append after the last whole record, and cuts off the bytes after that record.
  // `whole_until`: records are known to be whole up to there. FAILED_PRECONDITION: another writer
  // has the file. DATA_LOSS: the file is shorter than `whole_until`.
  static absl::StatusOr<std::unique_ptr<SegmentFile>> Open(
      const std::string& store_directory, uint64_t segment,
      uint64_t whole_until = kSegmentHeaderBytes);

  uint64_t number() const { return number_; }
  uint64_t size_bytes() const { return size_; }
  // The bytes that are known to be on the disk; the owner of this object syncs and sets them.
  uint64_t synced_bytes() const { return synced_; }
  void set_synced_bytes(uint64_t bytes) { synced_ = bytes; }
  // Call after a failed sync: cuts off the bytes that are not known to be on the disk, so that
  // nobody relies on them.
  void CutToSynced();
  SegmentWriterKind writer() const { return writer_; }
  uint64_t loss_epoch() const { return loss_epoch_; }  // of the time when the file was made
  // False: somebody deleted the file, and nobody will read records that are appended from now on.
  bool is_linked() const;

  struct KeyedPayload {
    Digest key;
    std::string_view payload;
    uint64_t written_s = 0;  // write time, seconds since 1970; 0: now
  };
  // Returns the offset at which the record begins. After an error the file is cut back to its last
  // whole record.
  absl::StatusOr<uint64_t> Append(RecordKind kind, const Digest& key, std::string_view payload,
                                  uint64_t written_s = 0);
  // Appends records one after the other, all or none; returns the offset of the first.
  absl::StatusOr<uint64_t> Append(RecordKind kind, std::span<const KeyedPayload> records);
  int descriptor() const { return file_.get(); }
  const std::string& path() const { return path_; }

 private:
  SegmentFile(FileDescriptor file, std::string path, const SegmentHeader& header, uint64_t size,
              uint64_t synced)
      : file_(std::move(file)),
        path_(std::move(path)),
        number_(header.number),
        writer_(header.writer),
        loss_epoch_(header.loss_epoch),
        size_(size),
        synced_(synced) {}
  absl::Status WriteAt(uint64_t offset, std::span<iovec> pieces);
  absl::Status CheckRoom(std::span<const KeyedPayload> records) const;

  const FileDescriptor file_;
  const std::string path_;
  const uint64_t number_;
  const SegmentWriterKind writer_;
  const uint64_t loss_epoch_;
  std::atomic<uint64_t> size_;
  std::atomic<uint64_t> synced_;
  bool broken_ = false;  // an append failed and could not be undone
};

}  // namespace galley::store
