// LikelyReadsOf: predicts the reads of a job besides its source: the files and cooked inputs that
// the last cook of its package read for the same platforms, if they still exist. A worker without
// files gets the list with the job, and fetches the files before the job begins.
//
// The list is only a hint: no key and no result depends on it, and a job fetches other files when
// it reads them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "director/journal/journal.h"
#include "director/shell/report_reader.h"
#include "director/shell/sources.h"

namespace galley::director {

struct LikelyRead {
  std::string path;              // a file in the mounts; empty: an output of a cooked input
  std::optional<Digest> digest;  // always set for an output; for a file if it is known
  auto operator<=>(const LikelyRead&) const = default;
};

// The most reads in a list; further reads are left out.
inline constexpr size_t kLikelyReadsMax = 64;

// Returns the list, with each read once, and only cooked inputs that `attempt` got. `record`: the
// record of the package.
std::vector<LikelyRead> LikelyReadsOf(const Sources& sources, const AttemptInfo& attempt,
                                      const PackageRecord& record);

}  // namespace galley::director
