// FromStat: converts a struct stat to a FileStat.
#pragma once

#include <sys/stat.h>

#include "common/base/file.h"

namespace galley {

inline FileStat FromStat(const struct stat& s) {
  constexpr int64_t kNanos = 1'000'000'000;
  return FileStat{.size_bytes = static_cast<uint64_t>(s.st_size),
                  .mtime_ns = s.st_mtim.tv_sec * kNanos + s.st_mtim.tv_nsec,
                  .ctime_ns = s.st_ctim.tv_sec * kNanos + s.st_ctim.tv_nsec,
                  .inode = s.st_ino,
                  .device = s.st_dev,
                  .mode = s.st_mode};
}

}  // namespace galley
