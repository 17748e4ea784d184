// Appends the blobs without which a result is useless: its outputs, and the sources that it
// generated. A lost log does no harm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"

namespace galley::store {

inline void AppendNamedBlobs(const record::Result& result, std::vector<Digest>& blobs) {
  for (const record::Output& output : result.outputs) blobs.push_back(output.digest);
  for (const record::Generated& generated : result.details.generated)
    blobs.push_back(generated.source);
}

// Says for each of `results` (encoded; nullopt: none) whether it may be served: all blobs that it
// names are present. `locate` gets a list of digests, once, and returns a list of optionals, or an
// error.
template <typename Locate>
absl::StatusOr<std::vector<bool>> AreComplete(
    const std::vector<std::optional<std::string>>& results, const Locate& locate) {
  std::vector<Digest> named;
  std::vector<size_t> ends;
  std::vector<bool> complete(results.size(), false);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].has_value()) {
      const absl::StatusOr<record::Result> result = record::DecodeResult(*results[i]);
      complete[i] = result.ok();
      if (result.ok()) AppendNamedBlobs(*result, named);
    }
    ends.push_back(named.size());
  }
  if (IsSabotaged(Sabotage::kSkipClosureCheck)) return complete;
  ASSIGN_OR_RETURN(const auto found, locate(named));
  for (size_t i = 0, at = 0; i < results.size(); ++i) {
    for (; at < ends[i]; ++at) {
      if (!found[at].has_value()) complete[i] = false;
    }
  }
  return complete;
}

}  // namespace galley::store
