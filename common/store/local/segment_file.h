// SegmentFile: a segment that is being appended to, by the owner or by a worker. It holds the
// file's flock, so that nobody else does.
//
// Invariant: the file ends with a whole record, or this object is broken and refuses everything.
// Threads: one at a time appends; the sizes may be read and set beside it.
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
  // A new file with its header. ALREADY_EXISTS: the number is taken.
  static absl::StatusOr<std::unique_ptr<SegmentFile>> Create(const std::string& store_directory,
                                                             const SegmentHeader& header);
  // Goes on after the last whole record and cuts what follows it. `whole_until`: up to there the
  // records are known to be whole. FAILED_PRECONDITION: another writer has it. DATA_LOSS: it is
  // shorter than that.
  static absl::StatusOr<std::unique_ptr<SegmentFile>> Open(
      const std::string& store_directory, uint64_t segment,
      uint64_t whole_until = kSegmentHeaderBytes);

  uint64_t number() const { return number_; }
  uint64_t size_bytes() const { return size_; }
  // How much of it is known to be on the disk. The owner of this object syncs and says so.
  uint64_t synced_bytes() const { return synced_; }
  void set_synced_bytes(uint64_t bytes) { synced_ = bytes; }
  // After a failed sync: cuts off what is not known to be on the disk, so that nobody mistakes it
  // for something that is.
  void CutToSynced();
  SegmentWriterKind writer() const { return writer_; }
  uint64_t loss_epoch() const { return loss_epoch_; }  // when it was made
  // False: somebody deleted it, and nobody will read what is appended from here on.
  bool is_linked() const;

  struct KeyedPayload {
    Digest key;
    std::string_view payload;
    uint64_t written_s = 0;  // seconds since 1970 that it says it was written at; 0: now
  };
  // Returns the offset at which the record begins. After an error the file is cut back to its last
  // whole record.
  absl::StatusOr<uint64_t> Append(RecordKind kind, const Digest& key, std::string_view payload,
                                  uint64_t written_s = 0);
  // Records one behind the other, all or none: where the first one begins.
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
  bool broken_ = false;  // an append failed and could not be cut off
};

}  // namespace galley::store
