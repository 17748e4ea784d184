// CookedTables: what is known to be cooked in the present world, for each platform, and which
// outputs the store has lost.
//
// Threads: any.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "director/resident/package_files.h"

namespace galley::director {

class CookedTables {
 public:
  // Never nullptr.
  std::shared_ptr<CookedTable> TableOf(const std::string& platform);

  // The store lacks this output: it is not known to be cooked until it is made again.
  void NoteLost(const Digest& output);
  void NoteMade(const PackageFiles& files);
  bool IsAnyLost(const PackageFiles& files) const;

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, std::shared_ptr<CookedTable>> tables_ GALLEY_GUARDED_BY(mutex_);
  std::set<Digest> lost_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
