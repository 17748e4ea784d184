// RemoteLookUp: asks an upstream cache for packages that our store does not know. RemoteLookUp
// brings observation sets, results and everything that these name into our own store; the next
// look-up in our store then finds them, with the blobs.
//
// A remote that is slow, down or wrong makes RemoteLookUp slow or useless, and has no other effect:
// only results that are whole and verified are committed. Verdicts belong to one store; a remote's
// verdicts are not taken.
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

  // The longest wait for each question to the remote; longer when bytes are moved.
  static constexpr absl::Duration kPatience = absl::Seconds(30);

  // True: something came, so that another look-up of the items may find more.
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
