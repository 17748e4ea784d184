// OutOfMemoryError: the job needs more memory than it may use: an allocation failed, or a cooker's
// own budget or a measurement was above the limit. The package has outgrown its limit, and Galley
// may keep this failure (docs/operating.md, "What a job may use").
//
// The code is OUT_OF_RANGE. RESOURCE_EXHAUSTED means that the machine has too little of something,
// such as disk space or descriptors (ErrnoStatus): no fault of the package, and never kept.
#pragma once

#include <new>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "common/base/errors.h"
#include "fmt/format.h"
#include "worker/cookers/cooker.h"

namespace galley::worker {

template <typename... Args>
absl::Status OutOfMemoryError(fmt::format_string<Args...> format, Args&&... args) {
  return OutOfRangeError(format, std::forward<Args>(args)...);
}
inline bool IsOutOfMemory(const absl::Status& status) { return absl::IsOutOfRange(status); }

// `noun`: what the job cooks ("mesh").
inline absl::Status NotEnoughMemory(const CookContext& context, std::string_view noun) {
  return OutOfMemoryError(
      "not enough memory for this {} (the job may use {} bytes); raise `memory` in its rule", noun,
      context.MemoryBytesMax());
}

// Returns the result of `work`, or NotEnoughMemory if an allocation fails.
template <typename Work>
auto GuardMemory(const CookContext& context, std::string_view noun, const Work& work)
    -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return NotEnoughMemory(context, noun);
  }
}

}  // namespace galley::worker
