// Disk: checks whether blobs lie where an index says, by the sizes of files and segments. Reads no
// bytes of blobs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/store/interface/store.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_format.h"

namespace galley::store {

// Make a new Disk for each pass: a Disk looks at each segment only once.
// Threads: one.
class Disk {
 public:
  explicit Disk(std::string store_directory) : directory_(std::move(store_directory)) {}

  // False: the file or segment is gone, or too short. An error: unknown.
  absl::StatusOr<bool> Has(const Digest& digest, const BlobLocation& location);

 private:
  const std::string directory_;
  std::map<uint64_t, uint64_t> segments_;  // number -> size in bytes; 0: gone
};

}  // namespace galley::store
