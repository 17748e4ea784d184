// Large blobs: files of their own, under their digests' names. They are written under a temporary
// name, put in their place whole, and never changed. Read-only, since hard links to them may be
// given away.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/store/interface/blob_stream.h"

namespace galley::store {

// A file under a temporary name, removed unless it was put somewhere.
class TemporaryFile {
 public:
  static absl::StatusOr<TemporaryFile> Create(const std::string& store_directory, uint32_t mode);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  absl::Status Write(std::string_view bytes);
  // In place of what is there. Its folder is made.
  absl::Status PutAt(const std::string& path);
  int descriptor() const { return file_.get(); }
  const std::string& path() const { return path_; }

 private:
  TemporaryFile(FileDescriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  FileDescriptor file_;
  std::string path_;  // empty: it has another name now
};

inline constexpr uint32_t kBlobFileMode = 0444;

// `bytes` are the digest's. A file that is there and right stays: it may be synced, and the new one
// is not. Not synced.
absl::Status WriteBlobFile(const std::string& store_directory, const Digest& digest,
                           std::string_view bytes);
// The same in pieces, which are hashed as they come. `on_finish`, if any, follows when the file is
// in its place.
absl::StatusOr<std::unique_ptr<BlobWriter>> NewBlobFileWriter(
    const std::string& store_directory, const Digest& digest,
    std::function<absl::Status()> on_finish);

// A blob file of bytes whose digest is known only when the last of them has come: they are hashed
// on their way. One that is not kept leaves nothing behind.
class HashedFile {
 public:
  static absl::StatusOr<HashedFile> Create(const std::string& store_directory);

  absl::Status Append(std::string_view bytes);
  // Once, when all have come.
  Digest Finish() { return hash_.Finish(); }
  // Puts it in its place, unless one that is right lies there. Not synced.
  absl::Status KeepAs(const Digest& digest);

 private:
  HashedFile(std::string store_directory, TemporaryFile file)
      : store_directory_(std::move(store_directory)), file_(std::move(file)) {}
  std::string store_directory_;
  TemporaryFile file_;
  DigestBuilder hash_;
};

// Reads from byte `offset` on. The bytes before it are read too: the end is told only when all of
// the file is right. DATA_LOSS when it is not, or is absent. REQUIRES: offset <=
// digest.size_bytes().
absl::StatusOr<std::unique_ptr<BlobReader>> NewBlobFileReader(const std::string& store_directory,
                                                              const Digest& digest,
                                                              uint64_t offset);

// Reads it in pieces. DATA_LOSS: it is wrong or absent.
absl::Status CheckBlobFile(const std::string& store_directory, const Digest& digest);

}  // namespace galley::store
