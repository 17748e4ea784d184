// FoundPaths: the files at paths that were found not long ago, so that a file that is asked for
// again costs one look-up instead of a search for the packages that may have its path.
//
//   Note   /v1/linux/Game/a.png.ktx2 in world 7 is the file 5e1f...
//   Find   the same, as long as it rests on the same ground
//
// Ground is all that an answer depends on and that may change: the world, what the table of cooked
// packages has forgotten or replaced, and the view of a session. A path is kept when none of its
// packages is generated: only such paths have the same packages as long as their world stands.
//
// Memory: kPathsMax entries of about 600 bytes. When there would be more, all are dropped.
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "director/resident/shown_world.h"
#include "director/serve/device_calls.h"

namespace galley::director {

struct FoundPath {
  DeviceFile file;                    // for a caller that knows no tag
  std::string package;                // whose file it is
  std::vector<std::string> packages;  // PathRead::Packages
};
using FoundPathPtr = std::shared_ptr<const FoundPath>;

class FoundPaths {
 public:
  static constexpr size_t kPathsMax = 16'384;

  struct Ground {
    ShownWorldPtr shown;
    uint64_t table_version = 0;  // CookedTable::version, read before anything was looked for
    Digest view_root;            // of a session's view; of no bytes: the present world's table
  };

  // nullptr: the file has to be looked for.
  FoundPathPtr Find(const Ground& ground, std::string_view platform, std::string_view path) const
      GALLEY_EXCLUDES(mutex_);
  void Note(const Ground& ground, std::string_view platform, std::string_view path, FoundPath found)
      GALLEY_EXCLUDES(mutex_);

 private:
  struct Entry {
    // Weak, so that an older world is not held for its paths.
    std::weak_ptr<const ShownWorld> shown;
    uint64_t table_version = 0;
    FoundPathPtr found;
  };

  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_ GALLEY_GUARDED_BY(mutex_);  // look-up only
};

}  // namespace galley::director
