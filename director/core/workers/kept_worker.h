// KeptWorker: the worker that gets nothing until it has room for a large job (large_jobs.h).
// Threads: none; a value.
#pragma once

#include <optional>

#include "director/core/ids.h"

namespace galley::director {

struct KeptWorker {
  WorkerId worker;
  PackageId package;  // that it is kept for
};

// The worker is kept for another package than this one.
inline bool IsKeptFrom(const std::optional<KeptWorker>& kept, PackageId package, WorkerId worker) {
  return kept.has_value() && kept->worker == worker && kept->package != package;
}

}  // namespace galley::director
