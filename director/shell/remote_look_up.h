// RemoteLookUp: asks a store of other people for packages that ours does not know. It brings
// observation sets, results and all that these name into our own store; a look-up that asks our
// store again then finds them, and the blobs with them.
//
// A remote that is slow, down or wrong makes this slow or in vain, nothing else: only what is whole
// and verified is committed. Verdicts are of one store; a remote's are not taken.
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

  // The patience for each question to the remote; more when bytes are moved.
  static constexpr absl::Duration kPatience = absl::Seconds(30);

  // True: something came, so that another look-up of the items may have another outcome.
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
