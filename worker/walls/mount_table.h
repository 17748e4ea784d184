// MountTable: the mounts that this process sees, and the paths by which a folder can be reached: a
// bind mount shows a folder a second time.
//
// Threads: none.
// Source: proc_pid_mountinfo(5).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace galley::worker {

struct MountLine {
  std::string device;  // "254:0": a number for each file system
  std::string root;    // the mounted folder of the file system
  std::string point;   // the place where it is mounted
  std::string type;    // "ext4"
};

// Leaves out unreadable lines, and mounts of folders that were removed.
std::vector<MountLine> ParseMountTable(std::string_view mountinfo);
// The table of this process; empty: it cannot be read.
std::vector<MountLine> ReadMountTable();

// Returns every path by which the folders, and the mounts below them, can be reached: the folders'
// own paths, without links, and paths at which another mount shows a folder, its parent or a part
// of it. Sorted; no path is below another path. `is_same`: whether both paths lead to the same
// file, since a later mount may hide an earlier one.
std::vector<std::string> PathsTo(
    const std::vector<std::string>& folders, const std::vector<MountLine>& mounts,
    const std::function<bool(const std::string&, const std::string&)>& is_same);

}  // namespace galley::worker
