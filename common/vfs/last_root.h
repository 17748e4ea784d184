// LastRoot: the root that a handle saw last, for a process without a director.
//
//   roots/<32 hex>   "galley-vfs-root 1\n<hex>/<size> <SHA-256 of the text before>\n"; the name is
//                    the beginning of the SHA-256 of platform and cultures
//
// Threads: any; one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/disk.h"
#include "common/vfs/result.h"

namespace galley::vfs {

class LastRoot {
 public:
  // `disk` outlives this object.
  LastRoot(Disk& disk, std::string cache_folder, const std::string& platform,
           const std::vector<std::string>& cultures);

  // nullopt: none was saved, or the file is damaged.
  std::optional<BlobId> Load() const;
  Outcome Save(const BlobId& root) const;

 private:
  Disk& disk_;
  const std::string folder_;
  const std::string name_;
};

}  // namespace galley::vfs
