// LimitedBlobStore: at most so many calls at a time and so many bytes in a second reach the store
// behind it. What must wait does; when too many wait already, RESOURCE_EXHAUSTED.
//
// The bytes of a second may be spent at once.
//
// Threads: any; a call blocks its caller.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/rate.h"
#include "common/store/interface/store.h"

namespace galley::store {

struct LimitedOptions {
  size_t calls_max = 16;                      // at a time
  size_t waiting_max = 1024;                  // for one of them to end
  uint64_t bytes_per_second = 0;              // read and written; 0: no limit
  std::function<void(absl::Duration)> pause;  // tests; empty: sleeps
};

class LimitedBlobStore final : public BlobStore {
 public:
  LimitedBlobStore(std::shared_ptr<BlobStore> behind, std::shared_ptr<Clock> clock,
                   LimitedOptions options);

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;

 private:
  absl::Status Enter(uint64_t bytes);
  void Leave();

  const std::shared_ptr<BlobStore> behind_;
  const std::shared_ptr<Clock> clock_;
  const LimitedOptions options_;
  std::optional<TokenBucket> bytes_;  // none: no limit
  base::Mutex mutex_;
  base::CondVar ended_;
  size_t calls_ GALLEY_GUARDED_BY(mutex_) = 0;
  size_t waiting_ GALLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace galley::store
