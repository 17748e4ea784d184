// FencedStore: a store that makes nothing durable for a director that was overtaken. `may_write` is
// asked before each Commit, Publish, Forget and FindLost, and an answer other than OK is returned;
// all else goes through. (Blobs that are Put become durable with the next Commit.)
//
// Threads: those of the inner store; `may_write` is called from all of them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/store/interface/store.h"
#include "director/journal/write_fence.h"

namespace galley::director {

class FencedStore final : public store::Store {
 public:
  FencedStore(std::unique_ptr<store::Store> inner, std::function<absl::Status()> may_write)
      : inner_(std::move(inner)), fence_(std::move(may_write)) {}

  store::Store& inner() { return *inner_; }

  absl::Status Commit(const store::CommitBatch& batch) override {
    RETURN_IF_ERROR(fence_.Check());
    return inner_->Commit(batch);
  }
  absl::StatusOr<uint64_t> Publish(const store::PublishedRoot& root) override {
    RETURN_IF_ERROR(fence_.Check());
    return inner_->Publish(root);
  }
  absl::Status Forget(std::span<const Digest> action_keys) override {
    RETURN_IF_ERROR(fence_.Check());
    return inner_->Forget(action_keys);
  }

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return inner_->FindMissing(digests);
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override { return inner_->Get(digest); }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    RETURN_IF_ERROR(fence_.Check());
    return inner_->Put(digest, bytes);
  }
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) override {
    return inner_->ObservationSets(weak_keys);
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) override {
    return inner_->Results(action_keys);
  }
  absl::StatusOr<std::vector<std::optional<std::string>>> ActionResults(
      std::string_view instance, std::span<const Digest> actions) override {
    return inner_->ActionResults(instance, actions);
  }
  absl::StatusOr<std::unique_ptr<store::BlobReader>> NewReader(const Digest& digest,
                                                               uint64_t offset) override {
    return inner_->NewReader(digest, offset);
  }
  absl::StatusOr<std::unique_ptr<store::BlobWriter>> NewWriter(const Digest& digest) override {
    RETURN_IF_ERROR(fence_.Check());
    return inner_->NewWriter(digest);
  }
  absl::StatusOr<store::StoreInfo> Info() override { return inner_->Info(); }
  absl::StatusOr<uint64_t> AllocateSegment() override {
    RETURN_IF_ERROR(fence_.Check());
    return inner_->AllocateSegment();
  }
  absl::StatusOr<std::vector<std::optional<store::BlobLocation>>> Locate(
      std::span<const Digest> digests) override {
    return inner_->Locate(digests);
  }
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override {
    RETURN_IF_ERROR(fence_.Check());
    return inner_->FindLost(digests);
  }
  absl::StatusOr<std::vector<store::PublishedRoot>> Roots(std::string_view project_id) override {
    return inner_->Roots(project_id);
  }
  absl::StatusOr<store::StoreStats> Stats(const store::StatsOptions& options) override {
    return inner_->Stats(options);
  }
  absl::StatusOr<store::VerifyReport> Verify(const store::VerifyOptions& options) override {
    return inner_->Verify(options);
  }
  absl::StatusOr<store::WhyReport> Why(const Digest& digest, size_t limit) override {
    return inner_->Why(digest, limit);
  }
  absl::StatusOr<store::GcReport> Collect(const store::GcOptions& options) override {
    RETURN_IF_ERROR(fence_.Check());
    return inner_->Collect(options);
  }

 private:
  const std::unique_ptr<store::Store> inner_;
  const WriteFence fence_;
};

}  // namespace galley::director
