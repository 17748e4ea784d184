#include "director/serve/device_face/verified_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"

namespace galley::director {
namespace {

constexpr uint64_t kVerifiedPieceBytes = 1 << 20;

bool AreOneVersion(const FileStat& a, const FileStat& b) {
  return a.inode == b.inode && a.device == b.device && a.size_bytes == b.size_bytes &&
         a.mtime_ns == b.mtime_ns;
}

absl::Status ReadWhole(int file, uint64_t offset, std::span<char> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EIO) return ErrnoStatus(errno, "read", path);
    if (count <= 0) return DataLossError("{} cannot be read at offset {}", path, offset);
    offset += static_cast<uint64_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::StatusOr<Digest> DigestOf(int file, uint64_t size, const std::string& path) {
  DigestBuilder builder;
  std::string piece;
  for (uint64_t offset = 0; offset < size; offset += piece.size()) {
    piece.resize(std::min(kVerifiedPieceBytes, size - offset));
    RETURN_IF_ERROR(ReadWhole(file, offset, std::span<char>(piece.data(), piece.size()), path));
    builder.Add(piece);
  }
  return builder.Finish();
}

absl::Status Wrong(const Digest& digest, std::string_view path) {
  return DataLossError("blob {}: its bytes in {} are wrong", digest.ToString(), path);
}

}  // namespace

absl::StatusOr<std::shared_ptr<VerifiedFile>> VerifiedFile::Open(const std::string& path,
                                                                 const Digest& digest,
                                                                 uint64_t loss_epoch) {
  absl::StatusOr<FileDescriptor> file = store::OpenStored(path, store::kBlobFileMode);
  if (absl::IsNotFound(file.status())) return DataLossError("{}", MessageOf(file.status()));
  RETURN_IF_ERROR(file.status());
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file->get(), path));
  if (stat.size_bytes != digest.size_bytes()) return Wrong(digest, path);
  ASSIGN_OR_RETURN(const Digest found, DigestOf(file->get(), stat.size_bytes, path));
  if (found != digest) return Wrong(digest, path);
  // A file that changes while it is read is none of a store.
  ASSIGN_OR_RETURN(const FileStat now, StatDescriptor(file->get(), path));
  if (!AreOneVersion(stat, now)) return Wrong(digest, path);
  return std::shared_ptr<VerifiedFile>(
      new VerifiedFile(path, *std::move(file), stat, digest, loss_epoch));
}

bool VerifiedFile::IsTheSame() const {
  const absl::StatusOr<FileStat> by_path = StatFile(path_);
  return by_path.ok() && AreOneVersion(stat_, *by_path);
}

absl::Status VerifiedFile::ReadAt(uint64_t offset, std::span<char> bytes) {
  return ReadWhole(file_.get(), offset, bytes, path_);
}

}  // namespace galley::director
