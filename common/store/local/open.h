// OpenStore: the one way to a store directory. One process owns it; everyone else reaches it through its Unix socket; when there is no
// owner, the caller becomes it.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"

namespace galley::store {

// Small blobs go to segments, larger ones are files of their own.
inline constexpr uint64_t kSmallBlobBytesMax = 64 << 10;

// Owner: opens (or makes) the layout in `directory` and holds its lock. ALREADY_EXISTS: another process owns it (try ConnectStore).
absl::StatusOr<std::unique_ptr<Store>> OpenLocalStore(const std::string& directory);

}  // namespace galley::store
