// Cooker descriptions: what `galley-worker describe` prints, cached by the stat of the binary and
// of the shared libraries that it loads.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/record/cooker_description.h"

namespace galley::director {

struct Cookers {
  std::string json;  // exactly as described: every worker must say the same
  std::vector<record::CookerDescription> descriptions;
};

// `cache_file` may be empty. UNAVAILABLE: the program cannot be run (names it), or prints nonsense.
// `binary_identity`: every cooker's identity becomes the digest of the program ([cook] identity =
// "binary").
absl::StatusOr<Cookers> DescribeCookers(const std::string& worker_program,
                                        const std::string& cache_file, bool binary_identity);

}  // namespace galley::director
