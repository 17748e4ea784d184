// JobPart: the base class of a part that also knows the workers (PackagePart).
// Threads: none.
#pragma once

#include "director/core/jobs/worker_table.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

struct JobGround : PackageGround {
  WorkerTable& workers;
};

class JobPart : protected PackagePart {
 protected:
  explicit JobPart(const JobGround& ground) : PackagePart(ground), workers_(ground.workers) {}

  WorkerTable& workers_;
};

}  // namespace galley::director
