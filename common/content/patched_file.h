// PatchedFile: a file of fixed layout that is mapped, and the bytes of it that were replaced since,
// which lie in a small file beside it, its patch. Whoever reads sees both as one: so a table of
// which a few records change is written at the cost of these.
//
//   <file>         The payload in blocks, each with its checksum. A block is checked when somebody
//                  first reads of it, so that opening costs no look at the whole.
//   <file>.patch   Names the file by its id, and says what is replaced. It is left out of account
//                  when it names another one. Once it is large the file is written anew.
//
// The id tells the whole content from all others: that of the patch, which has the file's in it; or
// of the file, when it has none. Who names a table by its id never gets half of an old one.
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
  // A patch has no more bytes, and no more than half of the payload's.
  static constexpr size_t kPatchBytesMax = size_t{256} << 10;

  // NOT_FOUND: there is none. FAILED_PRECONDITION: it is of another version, which the last byte of
  // the magic says. INVALID_ARGUMENT: it or its patch is damaged, or of another kind.
  static absl::StatusOr<std::unique_ptr<PatchedFile>> Open(const std::string& file,
                                                           std::string_view magic);
  // The same of the bytes of a file, without a patch.
  static absl::StatusOr<std::unique_ptr<PatchedFile>> FromBytes(std::string bytes,
                                                                std::string_view magic);
  PatchedFile(const PatchedFile&) = delete;
  PatchedFile& operator=(const PatchedFile&) = delete;

  size_t size() const { return size_; }  // of the payload
  // The begin is a multiple of 16, so that records are aligned.
  const char* begin() const { return begin_; }
  std::string id() const;
  // The files are the same apart from their patches: none was written anew in between.
  bool HasBaseOf(const PatchedFile& other) const { return base_sum_ == other.base_sum_; }

  // The bytes from there on, which were found to be right; null: they are not, or not all in it.
  const char* At(uint64_t at, uint64_t size) const;
  // Some read met wrong bytes: what was read before may have been of use to nobody.
  bool is_damaged() const { return is_damaged_; }
  void NoteDamage() const { is_damaged_ = true; }
  // DATA_LOSS: is_damaged.
  absl::Status Status() const;
  // Reads all. DATA_LOSS: some bytes are wrong.
  absl::Status Verify() const;

  // By where they begin in the payload; those that begin at one place are of one size, and none
  // overlap.
  using Ranges = std::map<uint64_t, std::string>;
  // The bytes of a patch that replaces these, too; or of a new file. DATA_LOSS: is_damaged.
  absl::StatusOr<std::string> With(const Ranges& ranges) const;

  // The bytes of a file. REQUIRES: a magic of eight bytes.
  static std::string Seal(std::string_view magic, std::string_view payload);
  // REQUIRES of these: from Seal, or With.
  static std::string IdOf(std::string_view bytes);
  static bool IsPatch(std::string_view bytes);
  // Replaces the file, or its patch. FAILED_PRECONDITION: it is a patch of another file than the
  // one that is there.
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
  std::string_view sums_;  // of the blocks
  Sum base_sum_, patch_sum_;
  Ranges ranges_;
  enum State : uint8_t { kUnread, kRight, kWrong };
  std::unique_ptr<std::atomic<uint8_t>[]> blocks_;
  mutable std::atomic<bool> is_damaged_ = false;
  mutable base::Mutex mutex_;  // of those who read a block first
};

}  // namespace galley::content
