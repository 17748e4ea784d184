// FencedStore: a store that refuses the writes of a director that another director has replaced.
// Each call that writes first calls `may_write`, and returns its error; other calls pass through.
//
// Threads: as the inner store; `may_write` is called on the threads of the callers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/store/interface/store.h"
#include "common/store/layers/forwarding_store.h"
#include "director/journal/write_fence.h"

namespace galley::director {

class FencedStore final : public store::ForwardingStore {
 public:
  FencedStore(std::unique_ptr<store::Store> inner, std::function<absl::Status()> may_write)
      : ForwardingStore(std::move(inner)), fence_(std::move(may_write)) {}

  store::Store& inner() { return behind(); }

  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    RETURN_IF_ERROR(fence_.Check());
    return behind().Put(digest, bytes);
  }
  std::vector<absl::Status> PutMany(std::span<const store::BlobView> blobs) override {
    if (const absl::Status may_write = fence_.Check(); !may_write.ok())
      return std::vector<absl::Status>(blobs.size(), may_write);
    return behind().PutMany(blobs);
  }
  absl::StatusOr<std::unique_ptr<store::BlobWriter>> NewWriter(const Digest& digest) override {
    RETURN_IF_ERROR(fence_.Check());
    return behind().NewWriter(digest);
  }
  absl::StatusOr<uint64_t> AllocateSegment() override {
    RETURN_IF_ERROR(fence_.Check());
    return behind().AllocateSegment();
  }
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override {
    RETURN_IF_ERROR(fence_.Check());
    return behind().FindLost(digests);
  }
  absl::Status Commit(const store::CommitBatch& batch) override {
    RETURN_IF_ERROR(fence_.Check());
    return behind().Commit(batch);
  }
  absl::StatusOr<uint64_t> Publish(const store::PublishedRoot& root) override {
    RETURN_IF_ERROR(fence_.Check());
    return behind().Publish(root);
  }
  absl::Status Forget(std::span<const Digest> action_keys) override {
    RETURN_IF_ERROR(fence_.Check());
    return behind().Forget(action_keys);
  }
  absl::Status ChangeLeases(const store::LeaseChanges& changes) override {
    RETURN_IF_ERROR(fence_.Check());
    return behind().ChangeLeases(changes);
  }

 private:
  const WriteFence fence_;
};

}  // namespace galley::director
