// DescribeCookers: runs `galley-worker describe`, or reads its output from a cache. The key of the
// cache is the stat of the binary and of its shared libraries. The cache has a checksum, because
// the roots would lack the packages of a cooker that is lost.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/record/cooker_description.h"

namespace galley::director {

struct Cookers {
  std::string json;  // the exact output; workers are compared with it
  std::vector<record::CookerDescription> descriptions;
  // Identifies the bytes of the program and its libraries. Empty without a cache file.
  std::string build;
};

// `cache_file`: empty: no cache. `binary_identity`: the identity of every cooker becomes the digest
// of the program ([cook] identity = "binary"). UNAVAILABLE, naming the program: it cannot be run,
// has not ended after `wait_max`, or its output does not parse.
absl::StatusOr<Cookers> DescribeCookers(const std::string& worker_program,
                                        const std::string& cache_file, bool binary_identity,
                                        absl::Duration wait_max = absl::Seconds(60));

// Says why programs of cookers can change the project on this machine, and what to do; empty: walls
// prevent that. UNAVAILABLE: the program cannot be run, or prints nothing.
absl::StatusOr<std::string> WallsMissing(const std::string& worker_program,
                                         absl::Duration wait_max = absl::Seconds(60));

// Checks the bytes of a cache file. DATA_LOSS: they are damaged.
absl::Status JudgeCookerCache(const std::string& bytes);

}  // namespace galley::director
