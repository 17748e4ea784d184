#include "common/store/testing/verifying_blob_store.h"

#include <set>
#include <utility>

#include "common/base/status_macros.h"
#include "common/store/interface/check_bytes.h"
#include "fmt/format.h"

namespace galley::store {

VerifyingBlobStore::VerifyingBlobStore(std::shared_ptr<BlobStore> behind)
    : behind_(std::move(behind)) {}

absl::StatusOr<std::vector<Digest>> VerifyingBlobStore::FindMissing(
    std::span<const Digest> digests) {
  ASSIGN_OR_RETURN(std::vector<Digest> missing, behind_->FindMissing(digests));
  const std::set<Digest> asked(digests.begin(), digests.end());
  for (const Digest& digest : missing) {
    if (!asked.contains(digest))
      return absl::InternalError(
          fmt::format("blob {} was reported missing and not asked for", digest.ToString()));
  }
  return missing;
}

absl::StatusOr<Blob> VerifyingBlobStore::Get(const Digest& digest) {
  ASSIGN_OR_RETURN(Blob blob, behind_->Get(digest));
  if (blob == nullptr || !AreBytesOf(digest, *blob)) {
    return absl::DataLossError(
        fmt::format("blob {}: the store answered other bytes", digest.ToString()));
  }
  return blob;
}

absl::Status VerifyingBlobStore::Put(const Digest& digest, std::string_view bytes) {
  if (Digest::Of(bytes) != digest) {
    return absl::InvalidArgumentError(
        fmt::format("blob {}: the {} bytes given are not those of this digest", digest.ToString(),
                    bytes.size()));
  }
  return behind_->Put(digest, bytes);
}

}  // namespace galley::store
