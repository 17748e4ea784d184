// TieredStore: our own store with a remote store behind it. A blob that our store lost, or finds to
// be wrong, is fetched from the remote, verified, and put into our store again.
//
// Only Get and NewReader ask the remote, and only for blobs that our store does not find; all other
// calls go to our store alone, so that commits and look-ups never wait for a network. Results come
// from a remote in batches: director/shell/remote_look_up.h.
//
// Threads: as our own store.
#pragma once

#include <memory>
#include <utility>

#include "common/store/interface/remote_cache.h"
#include "common/store/interface/store.h"
#include "common/store/layers/forwarding_store.h"

namespace galley::store {

class TieredStore final : public ForwardingStore {
 public:
  TieredStore(std::unique_ptr<Store> near, std::shared_ptr<RemoteCache> far,
              const RemoteLimits& limits = {.is_waited_for = true})
      : ForwardingStore(std::move(near)), far_(std::move(far)), limits_(limits) {}

  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                        uint64_t offset) override;

 private:
  bool FetchIfLost(const Digest& digest, const absl::Status& status);

  const std::shared_ptr<RemoteCache> far_;
  const RemoteLimits limits_;
};

}  // namespace galley::store
