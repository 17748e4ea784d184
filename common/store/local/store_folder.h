// StoreFolder: the store directory that a process has open, and its options. Does not change while
// the store is open.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"

namespace galley::store {

struct StoreFolder {
  const std::string directory;      // absolute
  const LocalStoreOptions options;  // complete: no function in it is empty
  const std::string store_id;

  // RESOURCE_EXHAUSTED: after `bytes` more, less than options.free_bytes_margin would be free.
  absl::Status CheckSpace(uint64_t bytes) const {
    return CheckFreeSpace(directory, bytes, options.free_bytes_margin);
  }
};

}  // namespace galley::store
