// DescribeCookers: what `galley-worker describe` prints, cached by the stat of the binary and of
// its shared libraries, with a checksum: without a cooker the roots would lack its packages.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/record/cooker_description.h"

namespace galley::director {

struct Cookers {
  std::string json;  // exactly as described: every worker must describe the same cookers
  std::vector<record::CookerDescription> descriptions;
  // Identifies the program and its libraries: other bytes are another build. Empty without a cache
  // file.
  std::string build;
};

// `cache_file` may be empty. UNAVAILABLE: the program cannot be run, prints nonsense, or has not
// ended after `wait_max`; the message names the program.
// `binary_identity`: every cooker's identity becomes the digest of the program ([cook] identity =
// "binary").
absl::StatusOr<Cookers> DescribeCookers(const std::string& worker_program,
                                        const std::string& cache_file, bool binary_identity,
                                        absl::Duration wait_max = absl::Seconds(60));

// Says why nothing keeps the programs of cookers from changing the project on this machine, and
// what to do; empty: something does keep them. UNAVAILABLE: the program cannot be run, or says
// nothing.
absl::StatusOr<std::string> WallsMissing(const std::string& worker_program,
                                         absl::Duration wait_max = absl::Seconds(60));

// Judges the bytes of a cache file: DATA_LOSS when they are damaged.
absl::Status JudgeCookerCache(const std::string& bytes);

}  // namespace galley::director
