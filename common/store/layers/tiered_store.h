// TieredStore: our own store with a remote one behind it. A blob that ours lost, or finds to be
// wrong, is read from there, verified, and is ours again.
//
// Only Get and NewReader ask the remote, and only for what they do not find: everything else is our
// own store's, so that nobody who commits or looks up waits for a network. Results are brought from
// a remote in batches: director/shell/remote_look_up.h.
//
// Threads: those of the store in front.
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
