// ConnectStore: a store that another process owns, reached through its socket.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/store/interface/store_admin.h"
#include "common/store/owner/socket_path.h"

namespace galley::store {

struct ConnectOptions {
  // For one call, and a second more for each 4 MiB that it carries.
  absl::Duration deadline = absl::Seconds(60);
  // For a collection; for a verify until it first says how far it is, then `deadline` from one time
  // to the next.
  absl::Duration verify_deadline = absl::Hours(24);
  // How long a call that may be sent again waits for an owner to come back.
  absl::Duration reconnect_time = absl::Seconds(2);
};

// UNAVAILABLE: nobody answers on the socket (try OpenLocalStore). Calls reconnect by themselves
// when the owner is replaced by another; while there is none they answer UNAVAILABLE.
absl::StatusOr<std::unique_ptr<StoreDirectory>> ConnectStore(const std::string& directory);
absl::StatusOr<std::unique_ptr<StoreDirectory>> ConnectStore(const std::string& directory,
                                                             const ConnectOptions& options);

}  // namespace galley::store
