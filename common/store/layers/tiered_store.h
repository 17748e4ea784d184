// TieredStore: our own store with a remote one behind it. A blob that ours lost, or finds to be
// wrong, is read from there, verified, and is ours again.
//
// Only Get and NewReader ask the remote, and only for what they do not find: everything else is our
// own store's, so that nobody who commits or looks up waits for a network. (Results are brought
// from a remote in batches: director/shell/remote_look_up.h.)
//
// Threads: those of the store in front.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/store/interface/remote_cache.h"
#include "common/store/interface/store.h"

namespace galley::store {

class TieredStore final : public Store {
 public:
  TieredStore(std::unique_ptr<Store> near, std::shared_ptr<RemoteCache> far,
              const RemoteLimits& limits = {.is_waited_for = true})
      : near_(std::move(near)), far_(std::move(far)), limits_(limits) {}

  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                        uint64_t offset) override;

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return near_->FindMissing(digests);
  }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    return near_->Put(digest, bytes);
  }
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const Digest& digest) override {
    return near_->NewWriter(digest);
  }
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) override {
    return near_->ObservationSets(weak_keys);
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) override {
    return near_->Results(action_keys);
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> ActionResults(
      std::string_view instance, std::span<const Digest> actions) override {
    return near_->ActionResults(instance, actions);
  }
  absl::StatusOr<StoreInfo> Info() override { return near_->Info(); }
  absl::StatusOr<uint64_t> AllocateSegment() override { return near_->AllocateSegment(); }
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) override {
    return near_->Locate(digests);
  }
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override {
    return near_->FindLost(digests);
  }
  absl::Status Commit(const CommitBatch& batch) override { return near_->Commit(batch); }
  absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) override {
    return near_->Publish(root);
  }
  absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id) override {
    return near_->Roots(project_id);
  }
  absl::Status Forget(std::span<const Digest> action_keys) override {
    return near_->Forget(action_keys);
  }
  absl::StatusOr<StoreStats> Stats(const StatsOptions& options) override {
    return near_->Stats(options);
  }
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) override {
    return near_->Verify(options);
  }
  absl::StatusOr<GcReport> Collect(const GcOptions& options) override {
    return near_->Collect(options);
  }
  absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit) override {
    return near_->Why(digest, limit);
  }

 private:
  bool FetchIfLost(const Digest& digest, const absl::Status& status);

  const std::unique_ptr<Store> near_;
  const std::shared_ptr<RemoteCache> far_;
  const RemoteLimits limits_;
};

}  // namespace galley::store
