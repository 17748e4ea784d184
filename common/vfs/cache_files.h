// ListCacheFiles: the blobs and parts that lie in a cache folder.
//
// Threads: any. Cost: a system call for each file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/vfs/disk.h"
#include "common/vfs/result.h"

namespace galley::vfs {

struct CacheFile {
  std::string path;
  uint64_t size = 0;
  int64_t used_s = 0;  // seconds since 1970
  bool is_part = false;

  std::string name() const { return path.substr(path.rfind('/') + 1); }
};

inline bool IsFile(const FileFacts& facts) { return !facts.is_folder && !facts.is_other; }

// Returns them as they were used, the longest ago first. Whatever is no file is left out.
Result<std::vector<CacheFile>> ListCacheFiles(Disk& disk, const std::string& folder);

}  // namespace galley::vfs
