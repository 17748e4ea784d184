#include "director/shell/unreadable_inputs.h"

#include <set>

#include "common/base/status_macros.h"

namespace galley::director {

absl::StatusOr<Unreadable> DistrustUnreadable(store::Store& store, Journal& journal,
                                              std::span<const GivenBlob> blobs,
                                              const LiesAt& lies_at) {
  std::set<Digest> read;
  std::set<Digest> lost;
  std::set<std::string> makers;
  for (const GivenBlob& blob : blobs) {
    if (read.insert(blob.digest).second) {
      const absl::Status status = store.Get(blob.digest).status();
      // The blob's commit is still to come, unless somebody deleted its bytes before.
      const bool is_to_come =
          blob.reported_at.has_value() && lies_at(blob.digest, *blob.reported_at);
      if (absl::IsDataLoss(status) || (absl::IsNotFound(status) && !is_to_come))
        lost.insert(blob.digest);
    }
    if (lost.contains(blob.digest)) makers.insert(blob.package);
  }
  Unreadable found{.packages = {makers.begin(), makers.end()}, .blobs = {lost.begin(), lost.end()}};
  if (!found.packages.empty()) RETURN_IF_ERROR(journal.Invalidate(found.packages, journal.meta()));
  return found;
}

}  // namespace galley::director
