#include "common/store/local/quarantine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <vector>

#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_format.h"
#include "fmt/format.h"

namespace galley::store {

absl::Status MoveToQuarantine(const std::string& store_directory, const Digest& digest,
                              const BlobLocation& location) {
  const std::string name = fmt::format("{}/{}-{}", QuarantineDirectory(store_directory),
                                       digest.hex(), digest.size_bytes());
  if (location.segment == 0) {
    const std::string path = BlobFilePath(store_directory, digest);
    if (::rename(path.c_str(), name.c_str()) == 0) return absl::OkStatus();
    return errno == ENOENT ? WriteFileAtomic(name, "")
                           : ErrnoStatus(errno, "move to quarantine", path);
  }
  std::string bytes(RecordSpan(digest.size_bytes()), '\0');
  const FileDescriptor segment(
      ::open(SegmentPath(store_directory, location.segment).c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t count = segment.valid() ? ::pread(segment.get(), bytes.data(), bytes.size(),
                                                  static_cast<off_t>(location.offset))
                                        : 0;
  bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return WriteFileAtomic(fmt::format("{}.{:016x}-{}", name, location.segment, location.offset),
                         bytes);
}

absl::Status TrimQuarantine(const std::string& store_directory, uint64_t bytes_max,
                            size_t files_max) {
  struct Kept {
    int64_t since_ns = 0;  // a rename changes it
    std::string path;
    uint64_t size_bytes = 0;
  };
  std::vector<Kept> kept;
  uint64_t bytes = 0;
  for (const std::string& name : NamesIn(QuarantineDirectory(store_directory))) {
    std::string path = JoinPath(QuarantineDirectory(store_directory), name);
    const absl::StatusOr<FileStat> stat = StatFile(path);
    if (!stat.ok() || !S_ISREG(stat->mode)) continue;  // a folder: a person may have put it there
    kept.push_back({stat->ctime_ns, std::move(path), stat->size_bytes});
    bytes += stat->size_bytes;
  }
  std::ranges::sort(kept, [](const Kept& a, const Kept& b) {
    return std::tie(a.since_ns, a.path) < std::tie(b.since_ns, b.path);
  });
  size_t files = kept.size();
  for (const Kept& oldest : kept) {
    if (bytes <= bytes_max && files <= files_max) break;
    if (::unlink(oldest.path.c_str()) != 0 && errno != ENOENT)
      return ErrnoStatus(errno, "remove", oldest.path);
    bytes -= oldest.size_bytes;
    --files;
  }
  return absl::OkStatus();
}

}  // namespace galley::store
