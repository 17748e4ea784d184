// ForwardingStore: passes every call to the store behind it. A decorator of a whole Store derives
// from this class and overrides only the calls that it changes; all other calls, PutMany and the
// streams included, behave exactly as in the store behind. A decorator of a BlobStore derives from
// BlobStore, and changes all of its three functions.
//
// Threads: as the store behind.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/store/interface/store.h"

namespace galley::store {

class ForwardingStore : public Store {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return behind_->FindMissing(digests);
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override { return behind_->Get(digest); }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    return behind_->Put(digest, bytes);
  }
  std::vector<absl::Status> PutMany(std::span<const BlobView> blobs) override {
    return behind_->PutMany(blobs);
  }
  absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                        uint64_t offset) override {
    return behind_->NewReader(digest, offset);
  }
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const Digest& digest) override {
    return behind_->NewWriter(digest);
  }
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) override {
    return behind_->ObservationSets(weak_keys);
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) override {
    return behind_->Results(action_keys);
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> RecordedResults(
      std::span<const Digest> action_keys) override {
    return behind_->RecordedResults(action_keys);
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> ActionResults(
      std::string_view instance, std::span<const Digest> actions) override {
    return behind_->ActionResults(instance, actions);
  }
  absl::StatusOr<StoreInfo> Info() override { return behind_->Info(); }
  absl::StatusOr<uint64_t> AllocateSegment() override { return behind_->AllocateSegment(); }
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) override {
    return behind_->Locate(digests);
  }
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override {
    return behind_->FindLost(digests);
  }
  absl::Status Commit(const CommitBatch& batch) override { return behind_->Commit(batch); }
  absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) override {
    return behind_->Publish(root);
  }
  absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id) override {
    return behind_->Roots(project_id);
  }
  absl::Status Forget(std::span<const Digest> action_keys) override {
    return behind_->Forget(action_keys);
  }
  absl::StatusOr<std::vector<record::Revocation>> Revocations() override {
    return behind_->Revocations();
  }
  absl::Status ChangeLeases(const LeaseChanges& changes) override {
    return behind_->ChangeLeases(changes);
  }
  absl::StatusOr<std::vector<RootLease>> Leases() override { return behind_->Leases(); }

 protected:
  explicit ForwardingStore(std::unique_ptr<Store> behind) : behind_(std::move(behind)) {}
  Store& behind() { return *behind_; }

 private:
  const std::unique_ptr<Store> behind_;
};

}  // namespace galley::store
