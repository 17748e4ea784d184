// PatchedFile: a mapped file of fixed layout, and the patch, a small file beside it with the bytes
// that were replaced since. Readers see both as one file. So a change of a few records costs only
// these records.
//
//   <file>         The payload in blocks, each with its checksum. A block is checked at its first
//                  read, so that opening does not read the whole file.
//   <file>.patch   Has the file's id and the replaced bytes. A patch with another file's id is
//                  ignored. Once the patch is large, the file is written anew.
//
// The id identifies the whole content: the id of the patch, which covers the file's id, or the
// file's id if there is no patch. So an id never stands for a mix of old and new bytes.
//
// Format (docs/formats.md, "Standings"). Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/mapped_file.h"
#include "common/base/mutex.h"

namespace galley::content {

class PatchedFile {
 public:
  static constexpr size_t kBlockBytes = size_t{64} << 10;
  // The size limit of a patch, which is also at most half of the payload's size.
  static constexpr size_t kPatchBytesMax = size_t{256} << 10;

  // NOT_FOUND: the file is absent. FAILED_PRECONDITION: the file is of another version, which is
  // the last byte of the magic. INVALID_ARGUMENT: the file or its patch is damaged, or of another
  // kind.
  static absl::StatusOr<std::unique_ptr<PatchedFile>> Open(const std::string& file,
                                                           std::string_view magic);
  // Open, for the bytes of a file without a patch.
  static absl::StatusOr<std::unique_ptr<PatchedFile>> FromBytes(std::string bytes,
                                                                std::string_view magic);
  PatchedFile(const PatchedFile&) = delete;
  PatchedFile& operator=(const PatchedFile&) = delete;

  size_t size() const { return size_; }  // of the payload
  // The begin is a multiple of 16, so that records are aligned.
  const char* begin() const { return begin_; }
  std::string id() const;
  // True: both have the same file, and only their patches may differ.
  bool HasBaseOf(const PatchedFile& other) const { return base_sum_ == other.base_sum_; }

  // The `size` bytes at offset `at` of the payload, after a check of their blocks. Null, and
  // is_damaged: wrong bytes, or beyond the payload.
  const char* At(uint64_t at, uint64_t size) const;
  // A read met wrong bytes: conclusions from earlier reads may be wrong, too.
  bool is_damaged() const { return is_damaged_; }
  void NoteDamage() const { is_damaged_ = true; }
  // DATA_LOSS: is_damaged.
  absl::Status Status() const;
  // Reads all bytes. DATA_LOSS: some bytes are wrong.
  absl::Status Verify() const;

  // Replaced bytes by their offset in the payload. REQUIRES: ranges do not overlap, and ranges of
  // two patches at one offset have the same size.
  using Ranges = std::map<uint64_t, std::string>;
  // The bytes of a patch that replaces `ranges` too, or of a new file. DATA_LOSS: is_damaged.
  absl::StatusOr<std::string> With(const Ranges& ranges) const;

  // The bytes of a file with `payload`. REQUIRES: `magic` has eight bytes.
  static std::string Seal(std::string_view magic, std::string_view payload);
  // REQUIRES, for both: `bytes` come from Seal or With.
  static std::string IdOf(std::string_view bytes);
  static bool IsPatch(std::string_view bytes);
  // Replaces the file, or its patch if `bytes` are a patch. FAILED_PRECONDITION: the patch is of
  // another file than the present one.
  static absl::Status Write(const std::string& file, std::string_view bytes);
  static std::string PatchOf(const std::string& file) { return file + ".patch"; }

 private:
  using Sum = std::string;  // 16 bytes

  PatchedFile() = default;
  absl::Status ReadHead(std::string_view bytes, std::string_view magic);
  absl::Status ReadPatch(std::string_view bytes);
  bool Touch(size_t block) const;
  void Apply(size_t block) const;

  std::optional<MappedFile> mapped_;
  std::string memory_;
  std::string magic_;
  char* begin_ = nullptr;  // written only where there is a patch
  size_t size_ = 0;
  std::string_view sums_;  // checksums of the blocks
  Sum base_sum_, patch_sum_;
  Ranges ranges_;
  enum State : uint8_t { kUnread, kRight, kWrong };
  std::unique_ptr<std::atomic<uint8_t>[]> blocks_;
  mutable std::atomic<bool> is_damaged_ = false;
  mutable base::Mutex mutex_;  // held while a block is checked
};

}  // namespace galley::content
