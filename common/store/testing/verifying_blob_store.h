// VerifyingBlobStore: a BlobStore in front of an untrusted BlobStore. Verifies the digest of every
// blob that is read or put.
//
// Threads: as the store behind it.
// Cost: one SHA-256 of each blob that passes.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "common/store/interface/store.h"

namespace galley::store {

class VerifyingBlobStore final : public BlobStore {
 public:
  explicit VerifyingBlobStore(std::shared_ptr<BlobStore> behind);

  // INTERNAL: the store behind returned a blob that was not asked for.
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  // DATA_LOSS: the bytes do not have the digest.
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;

 private:
  const std::shared_ptr<BlobStore> behind_;
};

}  // namespace galley::store
