// MountTable: what is mounted where, as this process sees it, and by which paths a folder can be
// reached: a bind mount shows it a second time.
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
  std::string device;  // "254:0": one for each file system
  std::string root;    // what of the file system is mounted
  std::string point;   // where
  std::string type;    // "ext4"
};

// Lines that cannot be read, and mounts of folders that were removed, are left out.
std::vector<MountLine> ParseMountTable(std::string_view mountinfo);
// That of this process; empty: it cannot be read.
std::vector<MountLine> ReadMountTable();

// All paths by which the folders, and what is mounted below them, can be reached: the folders
// themselves (paths without links), and the places at which a mount shows them, a folder around
// them or a part of them once more. Sorted; none is below another.
// `is_same`: whether both paths lead to the same file. (A mount may be hidden by a later one.)
std::vector<std::string> PathsTo(
    const std::vector<std::string>& folders, const std::vector<MountLine>& mounts,
    const std::function<bool(const std::string&, const std::string&)>& is_same);

}  // namespace galley::worker
