// Which ActionResults of other programs a store may serve.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"

namespace galley::store {

// `results` (nullopt: none) without those that name what is not in `blobs`, or whose Trees and
// Directories cannot be read: nullopt in their places.
absl::StatusOr<std::vector<std::optional<std::string>>> CompleteActionResults(
    BlobStore& blobs, std::vector<std::optional<std::string>> results);

}  // namespace galley::store
