#include "worker/cookers/mesh/memory_budget.h"

#include "worker/cookers/out_of_memory.h"

namespace galley::worker::mesh {

absl::Status MemoryBudget::Take(uint64_t bytes, const std::string& pointer) {
  const uint64_t max = job_bytes_max_ / 4;
  if (bytes > max || taken_bytes_ > max - bytes) {
    return OutOfMemoryError(
        "{}: not enough memory for this mesh (the job may use {} bytes); raise `memory` in its "
        "rule",
        pointer, job_bytes_max_);
  }
  taken_bytes_ += bytes;
  return absl::OkStatus();
}

}  // namespace galley::worker::mesh
