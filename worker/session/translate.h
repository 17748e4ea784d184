// Translate: turns an executor's messages into reports for the director. Everything is checked
// here, because the executor parsed foreign bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/wire/convert.h"
#include "galley/v1/executor.pb.h"
#include "galley/v1/worker.pb.h"

namespace galley::worker {

struct Teller {
  uint32_t slot = 0;
  std::string worker_id;
  std::string machine;
};

// Returns reports without number and attempt. `blobs`: the blobs that the executor sent since its
// last Loaded or Saved, as they were stored, in order. INVALID_ARGUMENT: a place without a blob,
// malformed details, observations or suffixes; the executor must not be trusted any more.
absl::StatusOr<std::vector<v1::Report>> ReportsOf(const v1::FromExecutor& message,
                                                  std::span<const wire::BlobAt> blobs,
                                                  const Teller& teller);

}  // namespace galley::worker
