// LargeJobs: a job that no worker has the memory for now is *set aside* while smaller jobs go on;
// when that lasts too long a worker is *kept* for it, and gets nothing else until there is room.
// That holds of one that is parked (Offers), too: it demands something of its worker which smaller
// jobs, that could go elsewhere, do not.
#pragma once

#include <vector>

#include "director/core/part.h"

namespace galley::director {

class LargeJobs : Part {
 public:
  explicit LargeJobs(Core& core) : Part(core) {}

  // False: the package is to wait at the head of its queue.
  bool SetAside(PackageId package, std::vector<PackageId>& aside);
  // A step hands jobs over: of what is parked, the first of each kind may have waited too long.
  // O(workers with room) for each kind.
  void LookAtParked();
  // The job that a worker is kept for goes there before all others.
  void HandOverKept();

 private:
  void NoteOvertaken(PackageId package);
  bool IsHeldUpByMemory(PackageId package) const;
  void KeepWorkerFor(PackageId package);
  bool MayBeKeptFor(PackageId package, WorkerId id, const Worker& worker) const;
};

}  // namespace galley::director
