// LastRoot: the root that a handle saw last, for a process without a director.
//
//   roots/<32 hex>   "galley-vfs-root 1\n<hex>/<size> <SHA-256 of the text before>\n"; the name is
//                    the beginning of the SHA-256 of the director's URL, platform and cultures
//
// The URL stands for the project: a handle without a director knows no more of it. So several
// projects may use one folder. At most kRootsMax files are kept, the newest.
//
// Threads: any; one at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/disk.h"
#include "common/vfs/result.h"
#include "common/vfs/url.h"

namespace galley::vfs {

class LastRoot {
 public:
  static constexpr size_t kRootsMax = 64;

  // `disk` outlives this object.
  LastRoot(Disk& disk, std::string cache_folder, const Url& url, const std::string& platform,
           const std::vector<std::string>& cultures);

  // nullopt: none was saved, or the file is damaged.
  std::optional<BlobId> Load() const;
  Outcome Save(const BlobId& root) const;

 private:
  void RemoveOldRoots() const;

  Disk& disk_;
  const std::string folder_;
  const std::string name_;
};

}  // namespace galley::vfs
