// BlobCache: a content-addressed folder of blob files, which the workers of a machine share and
// which outlives them. A reader verifies the bytes (store/local/blob_file.h), so that nobody has to
// trust a writer.
//
// When the folder holds more than its quota, the least recently used files go. A file that was used
// within kInUse stays, whatever the quota, because a job may be about to read it. If such a file is
// gone all the same, it is fetched again.
//
// Somebody may delete the folder at any time: it is made anew.
//
// Threads: any; any number of processes.
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
  // A temporary file of this age counts as left behind by a dead process.
  static constexpr absl::Duration kLeftBehind = absl::Hours(1);

  // Makes and tidies the folder.
  static absl::StatusOr<BlobCache> Open(std::string directory, uint64_t bytes_max);

  const std::string& directory() const { return directory_; }
  // Marks the blob as used. False: the folder does not have the blob.
  bool Use(const Digest& digest) const;
  // Removes the blob's file if its bytes are wrong.
  void Distrust(const Digest& digest) const;
  // RESOURCE_EXHAUSTED: no space.
  absl::Status Put(const Digest& digest, std::string_view bytes);
  // A file for a blob that comes in pieces. REQUIRES: the caller tells its bytes to Added.
  absl::StatusOr<store::HashedFile> Create() const;
  void Added(uint64_t bytes);
  // Removes the least recently used files beyond the quota. Does nothing while another process
  // tidies.
  void Tidy(absl::Time now) const;

  BlobCache(BlobCache&& other) noexcept
      : directory_(std::move(other.directory_)), bytes_max_(other.bytes_max_) {}

 private:
  BlobCache(std::string directory, uint64_t bytes_max)
      : directory_(std::move(directory)), bytes_max_(bytes_max) {}
  absl::Status MakeFolders() const;

  const std::string directory_;
  const uint64_t bytes_max_;
  std::atomic<uint64_t> added_{0};  // bytes since the last tidying
};

}  // namespace galley::worker
