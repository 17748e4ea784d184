// StoreServer: serves the owner's store on the store's Unix socket (mode 0600). OpenOrConnect:
// opens the store for every command.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

// Serves until it is destroyed; running calls get a second to end.
// Threads: its own; calls `store` from many.
class StoreServer {
 public:
  // Replaces a stale socket. REQUIRES: the caller owns the store in `directory`; `store` outlives
  // the server.
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(StoreDirectory& store,
                                                            const std::string& directory);
  virtual ~StoreServer() = default;
};

enum class OpenMode { kMakeIfAbsent, kMustExist };

// Opens the store in `directory`: if nobody owns it, this process owns and serves it; else it is
// reached through the owner's socket. When the owner goes away later, this process becomes the
// owner, or a client of the next owner (shared_store.h). UNAVAILABLE: the owner does not answer
// within `timeout`. NOT_FOUND: kMustExist, and there is no store; nothing is made. Other errors: as
// OpenLocalStore.
absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenOrConnect(
    const std::string& directory, OpenMode mode = OpenMode::kMakeIfAbsent,
    absl::Duration timeout = absl::Seconds(10));

}  // namespace galley::store
