// BlobCache: a folder of blob files, by content, which the workers of a machine share and which
// stays when they end. Whoever reads a file there verifies it (store/local/blob_file.h), so that
// nobody has to trust who wrote it.
//
// The least recently used files go when the folder holds more than its quota. What was used within
// kInUse stays, whatever the quota: a job may be about to read it. (One that is gone all the same
// is fetched again.)
//
// Somebody may delete the folder at any time: it is made anew.
//
// Threads: any; and any number of processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/store/local/blob_file.h"

namespace galley::worker {

class BlobCache {
 public:
  static constexpr absl::Duration kInUse = absl::Minutes(1);
  static constexpr absl::Duration kLeftBehind =
      absl::Hours(1);  // a temporary file of a dead process

  // Makes the folder, and tidies it.
  static absl::StatusOr<BlobCache> Open(std::string directory, uint64_t bytes_max);

  const std::string& directory() const { return directory_; }
  // Marks it as used. False: it is not there.
  bool Use(const Digest& digest) const;
  // Removes the file if its bytes are wrong.
  void Distrust(const Digest& digest) const;
  // RESOURCE_EXHAUSTED: no space.
  absl::Status Put(const Digest& digest, std::string_view bytes);
  // For one that comes in pieces. Its bytes are counted by Added.
  absl::StatusOr<store::HashedFile> Create() const;
  void Added(uint64_t bytes);
  // Removes the least recently used beyond the quota. Of several processes one does it.
  void Tidy(absl::Time now) const;

  BlobCache(BlobCache&& other) noexcept
      : directory_(std::move(other.directory_)), bytes_max_(other.bytes_max_) {}

 private:
  BlobCache(std::string directory, uint64_t bytes_max)
      : directory_(std::move(directory)), bytes_max_(bytes_max) {}
  absl::Status MakeFolders() const;

  const std::string directory_;
  const uint64_t bytes_max_;
  std::atomic<uint64_t> added_{0};  // since it was tidied
};

}  // namespace galley::worker
