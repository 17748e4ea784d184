// CompleteActionResults: selects the ActionResults of other programs that a store may serve.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"

namespace galley::store {

// Returns `results`, with nullopt in place of each result that names a blob which `blobs` lacks, or
// whose Trees and Directories cannot be read. nullopt in `results`: there is none.
absl::StatusOr<std::vector<std::optional<std::string>>> CompleteActionResults(
    BlobStore& blobs, std::vector<std::optional<std::string>> results);

}  // namespace galley::store
