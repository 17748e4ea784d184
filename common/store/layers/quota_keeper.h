// QuotaKeeper: keeps a store within a size by collections, in the background and on request.
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
  // Time between two background checks, and before the first.
  absl::Duration period = absl::Minutes(10);
  // Called before a collection; an error stops the collection, and is returned. Empty: OK.
  std::function<absl::Status()> may_collect;
  // Tells what a background collection dropped, or why it could not. Called on a thread of its own.
  std::function<void(const std::string& text)> say;
};

// Threads: any.
class QuotaKeeper {
 public:
  // `store` must outlive the keeper.
  QuotaKeeper(StoreAdmin& store, QuotaOptions options);
  // Cancels a background collection, which loses nothing.
  ~QuotaKeeper();
  QuotaKeeper(const QuotaKeeper&) = delete;

  // Checks now. A store above its quota is collected down to nine tenths of the quota, as far as
  // the blobs that must stay allow. `say` is called before the collection and with its outcome.
  absl::Status Keep(Cancellation* cancellation,
                    const std::function<void(const std::string& text)>& say);

 private:
  void Run();

  StoreAdmin& store_;
  const QuotaOptions options_;
  base::Mutex mutex_;  // one check at a time
  Cancellation over_;
  std::thread thread_;
};

}  // namespace galley::store
