// LikelyReadsOf: what a job most likely reads beside its source: what the last cook of its package
// read for the same platforms, as far as it exists today. A worker without files gets the list with
// the job, and has the files fetched before the job begins.
//
// The list is only a hint: no key and no result depends on it, and a job that reads something else
// asks for the file.
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
  std::string path;              // of a file in the mounts; empty: an output of a cooked input
  std::optional<Digest> digest;  // of a file, if known by now
  auto operator<=>(const LikelyRead&) const = default;
};

// The most reads kept for a job, each counted once; the first reads are kept.
inline constexpr size_t kLikelyReadsMax = 64;

// Lists only cooked inputs that `attempt` got. `record`: the record of the package.
std::vector<LikelyRead> LikelyReadsOf(const Sources& sources, const AttemptInfo& attempt,
                                      const PackageRecord& record);

}  // namespace galley::director
