// Files of large blobs, named by their digests. A file is written under a temporary name, renamed
// into its place when it is whole, and never changed. The files are read-only, since they may get
// hard links outside of the store.
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

// TemporaryFile: a file under a temporary name, removed unless PutAt renamed it.
class TemporaryFile {
 public:
  static absl::StatusOr<TemporaryFile> Create(const std::string& store_directory, uint32_t mode);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  absl::Status Write(std::string_view bytes);
  // Renames the file to `path`, in place of any file there. Makes the folder of `path`.
  absl::Status PutAt(const std::string& path);
  int descriptor() const { return file_.get(); }
  const std::string& path() const { return path_; }

 private:
  TemporaryFile(FileDescriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  FileDescriptor file_;
  std::string path_;  // empty: renamed
};

inline constexpr uint32_t kBlobFileMode = 0444;

// Writes a blob's file; does not sync it. An existing file that is right stays: unlike the new
// file, it may be synced. REQUIRES: `bytes` have the digest.
absl::Status WriteBlobFile(const std::string& store_directory, const Digest& digest,
                           std::string_view bytes);
// Like WriteBlobFile, in pieces, which are hashed as they come. Finish calls `on_finish`, if any,
// when the file is in its place.
absl::StatusOr<std::unique_ptr<BlobWriter>> NewBlobFileWriter(
    const std::string& store_directory, const Digest& digest,
    std::function<absl::Status()> on_finish);

// HashedFile: writes a blob file whose digest is known only after the last byte: bytes are hashed
// on the way. Without KeepAs the file is removed.
class HashedFile {
 public:
  static absl::StatusOr<HashedFile> Create(const std::string& store_directory);

  absl::Status Append(std::string_view bytes);
  // Returns the digest. Call once, after the last Append.
  Digest Finish() { return hash_.Finish(); }
  // Puts the file in its place, unless a right file lies there. Does not sync.
  absl::Status KeepAs(const Digest& digest);

 private:
  HashedFile(std::string store_directory, TemporaryFile file)
      : store_directory_(std::move(store_directory)), file_(std::move(file)) {}
  std::string store_directory_;
  TemporaryFile file_;
  DigestBuilder hash_;
};

// Reads from byte `offset` on. The bytes before are read too, since the end is reported only if the
// whole file is right. DATA_LOSS: the file is wrong or absent. REQUIRES: offset <=
// digest.size_bytes().
absl::StatusOr<std::unique_ptr<BlobReader>> NewBlobFileReader(const std::string& store_directory,
                                                              const Digest& digest,
                                                              uint64_t offset);

// Reads the whole file in pieces. DATA_LOSS: the file is wrong or absent.
absl::Status CheckBlobFile(const std::string& store_directory, const Digest& digest);

}  // namespace galley::store
