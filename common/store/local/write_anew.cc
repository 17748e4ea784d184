#include "common/store/local/write_anew.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"

namespace galley::store {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

// Through memory: what the kernel copies by itself may share the blocks that were never written.
absl::Status Copy(int from, const std::string& from_path, TemporaryFile& to) {
  std::string chunk(kChunkBytes, '\0');
  while (true) {
    const ssize_t count = ::read(from, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", from_path);
    if (count == 0) return absl::OkStatus();
    RETURN_IF_ERROR(to.Write(std::string_view(chunk).substr(0, static_cast<size_t>(count))));
  }
}

}  // namespace

absl::Status WriteAnew(const std::string& store_directory, const std::string& path,
                       const std::function<int(int)>& sync, uint64_t free_bytes_margin) {
  return WriteAnewFrom(store_directory, path, path, sync, free_bytes_margin);
}

absl::Status WriteAnewFrom(const std::string& store_directory, const std::string& from_path,
                           const std::string& path, const std::function<int(int)>& sync,
                           uint64_t free_bytes_margin) {
  const FileDescriptor from(::open(from_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from.valid()) return ErrnoStatus(errno, "open", from_path);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(from.get(), from_path));
  RETURN_IF_ERROR(CheckFreeSpace(store_directory, stat.size_bytes, free_bytes_margin));
  ASSIGN_OR_RETURN(TemporaryFile to, TemporaryFile::Create(store_directory, stat.mode & 07777));
  RETURN_IF_ERROR(Copy(from.get(), from_path, to));
  if (sync(to.descriptor()) != 0) return ErrnoStatus(errno, "sync", to.path());
  return to.PutAt(path);
}

}  // namespace galley::store
