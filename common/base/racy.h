// Racy: a file can change once more within the clock tick in which it was looked at, and then its
// times look the same (as git's racy index entries, https://git-scm.com/docs/racy-git).
//
// So what was learned of a file is kept only if the file's times lie at least kRacyWindowNanos
// before the moment of the look; any later change then gives the file another ctime. 2 s is the
// coarsest tick of the file systems that are met (FAT; ext4 and xfs: 4 ms). A clock of a file
// server that runs behind ours by more than that defeats it. A file with times in the future is
// always racy: correct, only slower.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/file.h"

namespace galley {

inline constexpr int64_t kRacyWindowNanos = 2'000'000'000;

// True when knowledge of the file from `looked_ns` (wall time before the first byte was read) may
// be of an earlier version of it.
inline bool IsRacy(const FileStat& stat, int64_t looked_ns) {
  return std::max(stat.mtime_ns, stat.ctime_ns) > looked_ns - kRacyWindowNanos;
}

}  // namespace galley
