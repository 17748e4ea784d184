// StoreServer: the owner's face on the store's Unix socket (mode 0600), and OpenOrConnect, which
// every command opens its store with.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

// Serves until it is destroyed; calls in flight are given a second to end.
// Threads: its own; `store` is called from many.
class StoreServer {
 public:
  // REQUIRES: the caller owns the store in `directory` (a stale socket there is replaced); `store`
  // outlives the server.
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(StoreDirectory& store,
                                                            const std::string& directory);
  virtual ~StoreServer() = default;
};

enum class OpenMode { kMakeIfAbsent, kMustExist };

// The store in `directory`: owned and served by this process when nobody owns it, else reached
// through the owner's socket. When that owner goes away while the store is in use, this process
// becomes the owner, or a client of the next one (shared_store.h). UNAVAILABLE: it is owned by a
// process that does not answer within `timeout`. NOT_FOUND: kMustExist, and there is no store
// there; nothing is made. Others as OpenLocalStore.
absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenOrConnect(
    const std::string& directory, OpenMode mode = OpenMode::kMakeIfAbsent,
    absl::Duration timeout = absl::Seconds(10));

}  // namespace galley::store
