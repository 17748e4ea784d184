// MemoryBudget: the memory that the decoded data of a source may take.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace galley::worker::mesh {

class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t job_bytes_max = 0) : job_bytes_max_(job_bytes_max) {}

  // Counts memory that is about to be taken for the data at `pointer` of the source. OUT_OF_RANGE:
  // the source needs more than a quarter of what the job may use; nothing is counted then.
  absl::Status Take(uint64_t bytes, const std::string& pointer);

 private:
  uint64_t job_bytes_max_;
  uint64_t taken_bytes_ = 0;
};

}  // namespace galley::worker::mesh
