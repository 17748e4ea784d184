// EmptyStore: a store that holds nothing and takes nothing: reads find nothing, and all other calls
// return `refusal`. For a missing store, and as the base of stores with made-up contents.
//
// Threads: any.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

class EmptyStore : public StoreDirectory {
 public:
  explicit EmptyStore(absl::Status refusal) : refusal_(std::move(refusal)) {}

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    std::vector<Digest> missing(digests.begin(), digests.end());
    std::erase(missing, Digest());
    return missing;
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override {
    if (digest == Digest()) return MakeBlob("");
    return NotFoundError("blob {} is absent", digest.ToString());
  }
  absl::Status Put(const Digest&, std::string_view) override { return refusal_; }
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) override {
    return std::vector<std::vector<std::string>>(weak_keys.size());
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) override {
    return std::vector<std::optional<std::string>>(action_keys.size());
  }
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) override {
    return std::vector<std::optional<BlobLocation>>(digests.size());
  }
  absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view) override {
    return std::vector<PublishedRoot>();
  }
  absl::StatusOr<StoreInfo> Info() override { return refusal_; }
  absl::StatusOr<uint64_t> AllocateSegment() override { return refusal_; }
  absl::Status Commit(const CommitBatch&) override { return refusal_; }
  absl::StatusOr<uint64_t> Publish(const PublishedRoot&) override { return refusal_; }
  absl::Status Forget(std::span<const Digest>) override { return refusal_; }
  absl::Status ChangeLeases(const LeaseChanges&) override { return refusal_; }
  absl::StatusOr<RevokeReport> Revoke(const RevokeOptions&) override { return refusal_; }
  absl::StatusOr<StoreStats> Stats(const StatsOptions&) override { return refusal_; }
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions&) override { return refusal_; }
  absl::StatusOr<GcReport> Collect(const GcOptions&) override { return refusal_; }
  absl::StatusOr<WhyReport> Why(const Digest&, size_t) override { return refusal_; }

 private:
  const absl::Status refusal_;
};

}  // namespace galley::store
