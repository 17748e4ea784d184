#include "director/shell/unreadable_inputs.h"

#include <set>

#include "common/base/status_macros.h"

namespace galley::director {

absl::StatusOr<std::vector<std::string>> DistrustUnreadable(store::Store& store, Journal& journal,
                                                            std::span<const GivenBlob> blobs) {
  std::set<Digest> read;
  std::set<Digest> lost;
  std::set<std::string> makers;
  for (const GivenBlob& blob : blobs) {
    if (read.insert(blob.digest).second) {
      const absl::Status status = store.Get(blob.digest).status();
      if (absl::IsDataLoss(status) || (absl::IsNotFound(status) && !blob.is_reported))
        lost.insert(blob.digest);
    }
    if (lost.contains(blob.digest)) makers.insert(blob.package);
  }
  std::vector<std::string> packages(makers.begin(), makers.end());
  if (!packages.empty()) RETURN_IF_ERROR(journal.Invalidate(packages, journal.meta()));
  return packages;
}

}  // namespace galley::director
