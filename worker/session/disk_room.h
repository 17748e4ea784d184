// DiskRoom: whether there is room for a job on the disks to which it writes: bytes, and inodes.
//
// A disk with less than kLeastBytes or kLeastInodes left (on a small one: a twentieth) is full:
// what a job writes there would not fit, and neither would the next log line.
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
  uint64_t free_inodes = 0, inodes = 0;  // 0 of 0: the file system has no number of them
  bool is_read_only = false;
};

// Empty: there is room. Else what is missing, and what to do.
std::string LackOf(const std::string& folder, const DiskSpace& space);

// What the first of these folders lacks that lacks something. One that is not made yet is on the
// disk of the one above it. One that cannot be looked at lacks nothing: who uses it says what is
// wrong.
std::string LackOfRoom(const std::vector<std::string>& folders);

}  // namespace galley::worker
