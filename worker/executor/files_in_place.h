// FilesInPlace: the byte source of a worker on the director's machine: files of a snapshot in their
// places, and blobs in the directory of the store.
#pragma once

#include <map>
#include <string>

#include "common/store/interface/store.h"
#include "worker/executor/byte_source.h"

namespace galley::worker {

class FilesInPlace final : public ByteSource {
 public:
  // `blobs`: the places of blobs, as the director told them. The arguments outlive the
  // FilesInPlace.
  FilesInPlace(content::Snapshot& snapshot, const std::string& store_directory,
               const std::map<Digest, store::BlobLocation>& blobs)
      : snapshot_(snapshot), store_directory_(store_directory), blobs_(blobs) {}

  absl::StatusOr<Digest> DigestOf(const std::string& path) override;
  absl::StatusOr<content::Snapshot::Content> Read(const std::string& path,
                                                  uint64_t size_bytes_max) override;
  absl::StatusOr<Digest> Stream(const std::string& path, const TakePiece& take) override;
  absl::Status CheckUnchanged(const std::string& path, const Digest& digest) override;
  absl::StatusOr<Blob> ReadBlob(const Digest& digest) override;
  absl::Status StreamBlob(const Digest& digest, const TakePiece& take) override;

 private:
  content::Snapshot& snapshot_;
  const std::string& store_directory_;
  const std::map<Digest, store::BlobLocation>& blobs_;
};

}  // namespace galley::worker
