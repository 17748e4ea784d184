// SetListResult: the observation sets of a weak key as they are sent to and from remote stores: an
// ActionResult under the weak key. The last writer wins; a lost set costs one load.
//
//   output_files        one: path "observation-sets", its digest, and the bytes inline:
//                       { repeated bytes set = 1 }, newest first, at most 16 and 1 MiB
//   execution_metadata  worker: "galley", so that no server takes it for an empty result
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tree/tree.h"

namespace galley::record {

inline constexpr std::string_view kSetListPath = "observation-sets";
inline constexpr size_t kSetListCountMax = 16;
inline constexpr size_t kSetListBytesMax = 1 << 20;

struct SetListResult {
  std::string bytes;  // the ActionResult
  std::string list;   // the list that `bytes` names
};
// `sets`: encoded, newest first. The oldest sets beyond the limits are left out.
SetListResult EncodeSetList(const std::vector<std::string>& sets);

// Encoded sets, newest first, without sets that DecodeSet refuses. `read` is called for a list that
// is not inline; its errors are returned. INVALID_ARGUMENT: no such result.
absl::StatusOr<std::vector<std::string>> DecodeSetList(std::string_view result,
                                                       const tree::ReadBlob& read);

}  // namespace galley::record
