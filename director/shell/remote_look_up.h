// RemoteLookUp: asks an upstream cache for packages that our store does not have. It copies
// observation sets, results and all blobs that they name to our store, where the next look-up finds
// them.
//
// A slow, failing or wrong remote has no effect but delay, because only complete and verified
// results are committed. Verdicts of a remote are not copied.
//
// Threads: any; Bring blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/cancellation.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/interface/store.h"
#include "common/tree/tree.h"
#include "director/shell/lookup.h"

namespace galley::director {

class RemoteLookUp {
 public:
  struct Deps {
    LookUpRunner* look_ups;
    store::Store* store;
    store::RemoteCache* remote;
    Cancellation* cancellation;
  };
  explicit RemoteLookUp(const Deps& deps) : deps_(deps) {}

  // The longest wait for a question to the remote; a transfer of bytes may take longer.
  static constexpr absl::Duration kPatience = absl::Seconds(30);

  // Copies the results of the items. True: something was copied, so another look-up of the items
  // may find more.
  bool Bring(const std::vector<LookUpItem>& items);

 private:
  LookUpRunner::MoreSets BringSets(const std::vector<LookUpItem>& items);
  struct Found;
  std::vector<Found> FindResults(const std::vector<LookUpItem>& items,
                                 const LookUpRunner::MoreSets& sets);
  absl::Status KeepComplete(std::vector<Found>& found);
  store::RemoteLimits limits() const {
    return {.patience = kPatience, .cancellation = deps_.cancellation, .is_waited_for = true};
  }
  tree::ReadBlob Reader();

  const Deps deps_;
};

}  // namespace galley::director
