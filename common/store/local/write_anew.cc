#include "common/store/local/write_anew.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

// Through memory: what the kernel copies by itself may share the blocks that were never written.
absl::Status Copy(int from, const std::string& from_path, int to, const std::string& to_path) {
  std::string chunk(kChunkBytes, '\0');
  while (true) {
    const ssize_t count = ::read(from, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", from_path);
    if (count == 0) return absl::OkStatus();
    RETURN_IF_ERROR(
        WriteAll(to, std::string_view(chunk).substr(0, static_cast<size_t>(count)), to_path));
  }
}

}  // namespace

absl::Status WriteAnew(const std::string& store_directory, const std::string& path,
                       const std::function<int(int)>& sync, uint64_t free_bytes_margin) {
  const FileDescriptor from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from.valid()) return ErrnoStatus(errno, "open", path);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(from.get(), path));
  RETURN_IF_ERROR(CheckFreeSpace(store_directory, stat.size_bytes, free_bytes_margin));
  std::string temporary =
      JoinPath(TemporaryDirectory(store_directory), fmt::format("{}.XXXXXX", ::getpid()));
  const FileDescriptor to(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!to.valid()) return ErrnoStatus(errno, "create", temporary);
  absl::Status status = Copy(from.get(), path, to.get(), temporary);
  if (status.ok() && ::fchmod(to.get(), 0644) != 0) status = ErrnoStatus(errno, "chmod", temporary);
  if (status.ok() && sync(to.get()) != 0) status = ErrnoStatus(errno, "sync", temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = ErrnoStatus(errno, "rename", path);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace galley::store
