#include "common/store/layers/tiered_store.h"

#include <span>

#include "common/base/log.h"

namespace galley::store {

// True: it is in front now.
bool TieredStore::FetchIfLost(const Digest& digest, const absl::Status& status) {
  if (!absl::IsNotFound(status) && !absl::IsDataLoss(status)) return false;
  const auto lacking = far_->Fetch(std::span(&digest, 1), behind(), limits_);
  const bool is_back = lacking.ok() && lacking->empty();
  if (is_back) LogInfo("blob={} came back from the remote store", digest.ToString());
  return is_back;
}

absl::StatusOr<Blob> TieredStore::Get(const Digest& digest) {
  absl::StatusOr<Blob> blob = behind().Get(digest);
  if (blob.ok() || !FetchIfLost(digest, blob.status())) return blob;
  return behind().Get(digest);
}

absl::StatusOr<std::unique_ptr<BlobReader>> TieredStore::NewReader(const Digest& digest,
                                                                   uint64_t offset) {
  auto reader = behind().NewReader(digest, offset);
  if (reader.ok() || !FetchIfLost(digest, reader.status())) return reader;
  return behind().NewReader(digest, offset);
}

}  // namespace galley::store
