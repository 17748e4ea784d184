#include "common/store/interface/complete_results.h"

#include "common/base/status_macros.h"
#include "common/store/interface/action_result.h"

namespace galley::store {

absl::StatusOr<std::vector<std::optional<std::string>>> CompleteActionResults(
    BlobStore& blobs, std::vector<std::optional<std::string>> results) {
  for (std::optional<std::string>& result : results) {
    if (!result.has_value()) continue;
    const auto named = NamedBlobs(*result, [&](const Digest& digest) { return blobs.Get(digest); });
    const bool is_wrong = absl::IsDataLoss(named.status()) ||
                          absl::IsInvalidArgument(named.status()) ||
                          absl::IsResourceExhausted(named.status());
    if (!is_wrong) {
      RETURN_IF_ERROR(named.status());
      ASSIGN_OR_RETURN(const std::vector<Digest> missing, blobs.FindMissing(*named));
      if (missing.empty()) continue;
    }
    result.reset();
  }
  return results;
}

}  // namespace galley::store
