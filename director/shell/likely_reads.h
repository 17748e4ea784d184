// LikelyReadsOf: what a job most likely reads beside its source: what the last cook of its package
// read for the same platforms, as far as it is there today. A worker without files is told of it
// with the job, and has it fetched before the job begins.
//
// A hint, and no more: it comes into no key and no result, and a job that reads something else asks
// for that.
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
  std::string path;              // of a file of the mounts; empty: an output of a cooked input
  std::optional<Digest> digest;  // of a file: if it is known by now
  auto operator<=>(const LikelyRead&) const = default;
};

inline constexpr size_t kLikelyReadsMax = 64;  // of a job, each once; those that come first

// Of cooked inputs, those that `attempt` was given. `record`: of its package.
std::vector<LikelyRead> LikelyReadsOf(const Sources& sources, const AttemptInfo& attempt,
                                      const PackageRecord& record);

}  // namespace galley::director
