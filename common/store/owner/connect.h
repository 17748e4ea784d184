// ConnectStore: opens a store that another process owns, through the owner's socket.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/store/interface/store_admin.h"
#include "common/store/owner/socket_path.h"

namespace galley::store {

struct ConnectOptions {
  // For one call; a second is added for each 4 MiB that the call carries.
  absl::Duration deadline = absl::Seconds(60);
  // For a collection, and for a verify until its first progress message; then `deadline` counts
  // from one message to the next.
  absl::Duration verify_deadline = absl::Hours(24);
  // How long a call that may be sent again waits for an owner to come back.
  absl::Duration reconnect_time = absl::Seconds(2);
};

// UNAVAILABLE: nobody answers on the socket (try OpenLocalStore). Calls reconnect by themselves
// when another owner replaces the owner; without an owner they return UNAVAILABLE.
absl::StatusOr<std::unique_ptr<StoreDirectory>> ConnectStore(const std::string& directory);
absl::StatusOr<std::unique_ptr<StoreDirectory>> ConnectStore(const std::string& directory,
                                                             const ConnectOptions& options);

}  // namespace galley::store
