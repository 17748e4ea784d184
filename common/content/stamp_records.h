// StampRecords: the records of a StampTable's file (docs/formats.md, "Stamps"), read in place.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/content/patched_file.h"
#include "common/content/stamp_table.h"

namespace galley::content {

struct StatRecord {
  uint64_t size_bytes;
  int64_t mtime_ns;
  int64_t ctime_ns;
  uint64_t inode;
  uint64_t device;
  uint32_t mode;
  uint32_t flags;
};
static_assert(sizeof(StatRecord) == 48);

// Flags of a StatRecord. Of folders: kIsLink; kIsLeftOut: the folder is not looked into, and `path`
// is the file that says so. Of files: kIsUnread: the digest is unknown, and its place is reserved.
inline constexpr uint32_t kIsRacy = 1, kIsLink = 2, kIsLeftOut = 4, kIsUnread = 8;

struct FolderRecord {
  StatRecord stat;
  NamesHash names;
  uint32_t path;  // offset in the names
  uint32_t first_file;
  uint32_t file_count;
  uint32_t zero;
};
static_assert(sizeof(FolderRecord) == 80);

struct FileRecord {
  StatRecord stat;
  uint32_t name;
  uint32_t digest;  // its number + 1; 0: none
  uint32_t target;  // its number + 1; 0: none
  uint32_t zero;
};
static_assert(sizeof(FileRecord) == 64);

struct StampHeader {
  uint64_t folders;
  uint64_t files;
  uint64_t digests;
  uint64_t targets;
  uint64_t names_bytes;  // each name ends with NUL
};
static_assert(sizeof(StampHeader) == 40);

inline StatRecord RecordOf(const FileStat& stat, uint32_t flags = 0) {
  return {.size_bytes = stat.size_bytes,
          .mtime_ns = stat.mtime_ns,
          .ctime_ns = stat.ctime_ns,
          .inode = stat.inode,
          .device = stat.device,
          .mode = stat.mode,
          .flags = flags};
}

inline bool IsStampOf(const StatRecord& record, const FileStat& stat) {
  return record.mtime_ns == stat.mtime_ns && record.ctime_ns == stat.ctime_ns &&
         record.inode == stat.inode && record.device == stat.device && record.mode == stat.mode;
}
inline bool IsStatOf(const StatRecord& record, const FileStat& stat) {
  return IsStampOf(record, stat) && record.size_bytes == stat.size_bytes;
}

template <typename T>
std::string BytesOf(const T& record) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

// The records of the mapped file, checked as they are read. A damaged record reads as all zero, a
// damaged name as empty, and file().is_damaged() from then on.
class StampRecords {
 public:
  explicit StampRecords(std::unique_ptr<PatchedFile> file) : file_(std::move(file)) {}

  // INVALID_ARGUMENT: the file is no table of stamps, or its header is damaged.
  absl::Status ReadHeader();

  const PatchedFile& file() const { return *file_; }
  uint32_t folders() const { return static_cast<uint32_t>(header_.folders); }
  uint32_t files() const { return static_cast<uint32_t>(header_.files); }
  const FolderRecord& folder(uint32_t i) const {
    const FolderRecord& one = At<FolderRecord>(sizeof(StampHeader), i, header_.folders);
    const bool is_within = one.first_file <= files() && one.file_count <= files() - one.first_file;
    return is_within ? one : Blank<FolderRecord>();
  }
  const FileRecord& file(uint32_t i) const { return At<FileRecord>(files_at_, i, header_.files); }
  const StatRecord& target(uint32_t i) const {
    return At<StatRecord>(targets_at_, i, header_.targets);
  }
  std::string_view digest(uint32_t i) const {
    const Hash& hash = At<Hash>(digests_at_, i, header_.digests);
    return {hash.bytes, sizeof(hash.bytes)};
  }
  const char* name(uint32_t at) const;
  uint64_t OffsetOf(const void* record) const {
    return static_cast<uint64_t>(static_cast<const char*>(record) - file_->begin());
  }

 private:
  struct Hash {
    char bytes[Digest::kHashSize];
  };

  // Records begin at multiples of eight bytes, as the mapping does.
  template <typename T>
  const T& At(uint64_t begin, uint32_t i, uint64_t count) const {
    const char* const bytes =
        i < count ? file_->At(begin + uint64_t{i} * sizeof(T), sizeof(T)) : nullptr;
    return bytes == nullptr ? Blank<T>() : *reinterpret_cast<const T*>(bytes);
  }
  template <typename T>
  const T& Blank() const {
    static const T blank{};
    file_->NoteDamage();
    return blank;
  }

  const std::unique_ptr<PatchedFile> file_;
  StampHeader header_{};
  uint64_t files_at_ = 0, targets_at_ = 0, digests_at_ = 0, names_at_ = 0;
};

}  // namespace galley::content
