// OutOfMemoryError: the job needs more memory than it may use, as an allocation that failed, a
// cooker's own budget, or a measurement shows. The package has outgrown its limit, and Galley may
// keep this failure (docs/operating.md, "What a job may use").
//
// The code is OUT_OF_RANGE. RESOURCE_EXHAUSTED means that the machine has too little of something,
// such as disk space or descriptors (ErrnoStatus): no fault of the package, and never kept.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::worker {

inline absl::Status OutOfMemoryError(const std::string& text) {
  return absl::OutOfRangeError(text);
}
inline bool IsOutOfMemory(const absl::Status& status) { return absl::IsOutOfRange(status); }

}  // namespace galley::worker
