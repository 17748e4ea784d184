// ToolDigests: computes digests of tools, files outside the mounts, and caches them by stat.
//
// Threads: any.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/mutex.h"

namespace galley::director {

class ToolDigests {
 public:
  // Returns "<hex>/<size>" or "absent". REQUIRES: `host_path` is absolute.
  absl::StatusOr<std::string> ValueOf(const std::string& host_path);

 private:
  struct Known {
    FileStat stat;
    Digest digest;
  };
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, Known> known_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
