#include "common/store/interface/store.h"

#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::store {
namespace {

class WholeBlobReader final : public BlobReader {
 public:
  WholeBlobReader(Blob blob, uint64_t offset)
      : blob_(std::move(blob)), rest_(std::string_view(*blob_).substr(offset)) {}

  absl::StatusOr<std::string_view> Next(size_t bytes_max) override {
    const std::string_view piece = rest_.substr(0, bytes_max);
    rest_.remove_prefix(piece.size());
    return piece;
  }

 private:
  const Blob blob_;
  std::string_view rest_;
};

class WholeBlobWriter final : public BlobWriter {
 public:
  WholeBlobWriter(BlobStore& store, const Digest& digest) : store_(store), digest_(digest) {}

  absl::Status Append(std::string_view bytes) override {
    RETURN_IF_ERROR(CheckFits(digest_, bytes_.size(), bytes.size()));
    bytes_ += bytes;
    return absl::OkStatus();
  }
  absl::Status Finish() override { return store_.Put(digest_, bytes_); }

 private:
  BlobStore& store_;
  const Digest digest_;
  std::string bytes_;
};

}  // namespace

absl::Status CheckFits(const Digest& digest, uint64_t written, uint64_t more) {
  if (more <= digest.size_bytes() - written) return absl::OkStatus();
  return InvalidArgumentError("blob {}: more bytes than its digest says", digest.ToString());
}

absl::Status CheckOffset(const Digest& digest, uint64_t offset) {
  if (offset <= digest.size_bytes()) return absl::OkStatus();
  return OutOfRangeError("blob {}: there is no byte {}", digest.ToString(), offset);
}

std::vector<absl::Status> BlobStore::PutMany(std::span<const BlobView> blobs) {
  std::vector<absl::Status> outcomes;
  for (const BlobView& blob : blobs) outcomes.push_back(Put(blob.digest, blob.bytes));
  return outcomes;
}

absl::StatusOr<std::unique_ptr<BlobReader>> BlobStore::NewReader(const Digest& digest,
                                                                 uint64_t offset) {
  RETURN_IF_ERROR(CheckOffset(digest, offset));
  ASSIGN_OR_RETURN(Blob blob, Get(digest));
  return std::make_unique<WholeBlobReader>(std::move(blob), offset);
}

absl::StatusOr<std::unique_ptr<BlobWriter>> BlobStore::NewWriter(const Digest& digest) {
  return std::make_unique<WholeBlobWriter>(*this, digest);
}

absl::StatusOr<std::vector<std::optional<std::string>>> ActionCache::RecordedResults(
    std::span<const Digest> action_keys) {
  return Results(action_keys);
}

absl::StatusOr<std::vector<std::optional<std::string>>> ActionCache::ActionResults(
    std::string_view, std::span<const Digest> actions) {
  return std::vector<std::optional<std::string>>(actions.size());
}

absl::StatusOr<std::vector<Digest>> Store::FindLost(std::span<const Digest> digests) {
  return FindMissing(digests);
}

absl::StatusOr<std::vector<record::Revocation>> Store::Revocations() {
  return std::vector<record::Revocation>();
}

absl::Status Store::ChangeLeases(const LeaseChanges&) {
  return absl::UnimplementedError("this store keeps no leases");
}

absl::StatusOr<std::vector<RootLease>> Store::Leases() { return std::vector<RootLease>(); }

}  // namespace galley::store
