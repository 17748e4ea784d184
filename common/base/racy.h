// Racy: a file can change again within the clock tick in which it was read, and keep its times.
// Source: git's racy index entries, https://git-scm.com/docs/racy-git.
//
// So knowledge of a file is kept only if the file's times lie at least kRacyWindowNanos before the
// read; any later change then gives the file another ctime. 2 s is the coarsest tick of common file
// systems (FAT; ext4 and xfs: 4 ms). The rule fails if a file server's clock runs behind ours by
// more than the window. A file with times in the future is always racy: correct, only slower.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/file.h"

namespace galley {

inline constexpr int64_t kRacyWindowNanos = 2'000'000'000;

// True: knowledge of the file since `looked_ns`, the wall time before its first byte was read, may
// be of an earlier version of the file.
inline bool IsRacy(const FileStat& stat, int64_t looked_ns) {
  return std::max(stat.mtime_ns, stat.ctime_ns) > looked_ns - kRacyWindowNanos;
}

}  // namespace galley
