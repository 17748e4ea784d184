// DiskRoom: whether the disks to which a job writes have room for it: bytes, and inodes.
//
// A disk with less than kLeastBytes or kLeastInodes left (on a small disk: a twentieth) is full: a
// job's output would not fit, and neither would the next log line.
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace galley::worker {

inline constexpr uint64_t kLeastBytes = 16ull << 20;
inline constexpr uint64_t kLeastInodes = 64;

struct DiskSpace {
  uint64_t free_bytes = 0, bytes = 0;
  uint64_t free_inodes = 0, inodes = 0;  // 0 of 0: the file system does not limit inodes
  bool is_read_only = false;
};

// Says what is missing, and what to do; empty: there is room.
std::string LackOf(const std::string& folder, const DiskSpace& space);

// LackOf of the first folder whose disk is full; empty: all have room. A missing folder is on the
// disk of its parent. A folder that cannot be looked at has room: its user will report the trouble.
std::string LackOfRoom(const std::vector<std::string>& folders);

}  // namespace galley::worker
