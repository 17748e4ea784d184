// OutOfMemoryError: the job needs more memory than it may use, by an allocation that failed, by a
// cooker's own budget, or as it was measured. The package has outgrown its limit, and that may be
// kept (docs/operating.md, "What a job may use").
//
// Its code is OUT_OF_RANGE. RESOURCE_EXHAUSTED is what the machine has too little of, such as space
// on a disk or descriptors (ErrnoStatus): no fault of the package, and never kept.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::worker {

inline absl::Status OutOfMemoryError(const std::string& text) {
  return absl::OutOfRangeError(text);
}
inline bool IsOutOfMemory(const absl::Status& status) { return absl::IsOutOfRange(status); }

}  // namespace galley::worker
