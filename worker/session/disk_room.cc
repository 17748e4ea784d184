#include "worker/session/disk_room.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr uint64_t kPartOfASmallOne = 20;

// Looks at the disk of `folder`. A folder that is not made yet will be on the disk of its parent.
bool LookAt(std::string folder, struct statvfs& disk) {
  while (::statvfs(folder.c_str(), &disk) != 0) {
    const size_t slash = folder.rfind('/');
    if (errno != ENOENT || slash == std::string::npos || slash == 0) return false;
    folder.resize(slash);
  }
  return true;
}

}  // namespace

std::string LackOf(const std::string& folder, const DiskSpace& space) {
  if (space.is_read_only)
    return fmt::format("the disk of {} may only be read: mount it to be written", folder);
  const uint64_t bytes = std::min(kLeastBytes, space.bytes / kPartOfASmallOne);
  if (space.free_bytes < bytes)
    return fmt::format(
        "no space left on the disk of {}: {} bytes are free, at least {} are needed "
        "for a job; make room there",
        folder, space.free_bytes, bytes);
  const uint64_t inodes = std::min(kLeastInodes, space.inodes / kPartOfASmallOne);
  if (space.inodes > 0 && space.free_inodes < inodes)
    return fmt::format(
        "no files can be made on the disk of {}: {} inodes are free, at least {} "
        "are needed for a job; remove files there",
        folder, space.free_inodes, inodes);
  return "";
}

std::string LackOfRoom(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    struct statvfs disk {};
    if (folder.empty() || !LookAt(folder, disk)) continue;
    std::string lack = LackOf(folder, {.free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize,
                                       .bytes = uint64_t{disk.f_blocks} * disk.f_frsize,
                                       .free_inodes = disk.f_favail,
                                       .inodes = disk.f_files,
                                       .is_read_only = (disk.f_flag & ST_RDONLY) != 0});
    if (!lack.empty()) return lack;
  }
  return "";
}

}  // namespace galley::worker
