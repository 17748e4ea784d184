// ReplaceFile: a small file gets other bytes, at once: whoever reads it has the old or the new
// ones, also when the process is killed. Several processes may do it at a time; the last one stays.
//
//   <path>.new<n>   the new bytes, for a moment, and after a kill until the next call
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "common/vfs/disk.h"
#include "common/vfs/result.h"

namespace galley::vfs {

// The folder is made if need be. Whatever lies there and is no file is removed. Faults: the disk's;
// an absent folder is GALLEY_VFS_IO.
Outcome ReplaceFile(Disk& disk, const std::string& path, std::string_view bytes);
// True for names that ReplaceFile gives for a moment.
bool IsNewName(std::string_view name);
// Removes what a killed process left there. Nothing, if another one is writing it.
void RemoveNew(Disk& disk, const std::string& path);

}  // namespace galley::vfs
