#include "common/base/read_pieces.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/file.h"
#include "common/base/status_macros.h"

namespace galley {

absl::Status ReadInPieces(const std::string& path, const TakePiece& take) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  std::string buffer(kPieceBytesMax, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", path);
    if (count == 0) return absl::OkStatus();
    RETURN_IF_ERROR(take({buffer.data(), static_cast<size_t>(count)}));
  }
}

absl::StatusOr<Digest> DigestOfFile(const std::string& path) {
  DigestBuilder builder;
  RETURN_IF_ERROR(ReadInPieces(path, [&](std::string_view piece) {
    builder.Add(piece);
    return absl::OkStatus();
  }));
  return builder.Finish();
}

absl::StatusOr<Digest> WriteInPieces(const std::string& path, const PieceStream& stream) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return ErrnoStatus(errno, "create", path);
  DigestBuilder builder;
  RETURN_IF_ERROR(stream([&](std::string_view piece) {
    builder.Add(piece);
    return WriteAll(file.get(), piece, path);
  }));
  return builder.Finish();
}

}  // namespace galley
