// QuotaKeeper: keeps a store within a size, by collections in the background and when asked.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

struct QuotaOptions {
  uint64_t bytes_max = UINT64_MAX;  // of segments and files on the disk
  // Between two looks in the background; the first comes after one.
  absl::Duration period = absl::Minutes(10);
  // Asked before a collection; an answer other than OK is returned. Empty: OK.
  std::function<absl::Status()> may_collect;
  // In the background: what was dropped, or why nothing could be. On a thread of its own.
  std::function<void(const std::string& text)> say;
};

// Threads: any.
class QuotaKeeper {
 public:
  // `store` outlives it.
  QuotaKeeper(StoreAdmin& store, QuotaOptions options);
  // Cuts off what runs in the background: nothing is lost by that.
  ~QuotaKeeper();
  QuotaKeeper(const QuotaKeeper&) = delete;

  // Looks now. When the store is larger than its quota it is brought to nine tenths of it, as far
  // as nothing stands against it that has to stay. `say` is told before that, and what came of it.
  absl::Status Keep(Cancellation* cancellation,
                    const std::function<void(const std::string& text)>& say);

 private:
  void Run();

  StoreAdmin& store_;
  const QuotaOptions options_;
  base::Mutex mutex_;  // one look at a time
  Cancellation over_;
  std::thread thread_;
};

}  // namespace galley::store
