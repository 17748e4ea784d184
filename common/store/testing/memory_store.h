// MemoryStore: a store in memory, for tests. It keeps the promises of the local store, except that
// its contents go with it.
//
// Threads: any.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

class MemoryStore : public StoreDirectory {
 public:
  explicit MemoryStore(std::string store_id = std::string(32, '0'));

  // Writes bytes to `segment` as a local worker does with a SegmentWriter; a Commit that names them
  // makes them a blob of the store. NOT_FOUND: no such segment.
  absl::StatusOr<std::pair<Digest, BlobLocation>> WriteAsWorker(uint64_t segment,
                                                                std::string_view bytes);
  // Makes a blob's bytes wrong, as a faulty disk does: the next Get returns DATA_LOSS and drops the
  // blob, and the loss epoch rises. False: the blob is absent.
  bool Corrupt(const Digest& digest);
  // Drops a blob, as an eviction does; the loss epoch rises.
  void Drop(const Digest& digest);

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) override;
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) override;
  absl::StatusOr<std::vector<std::optional<std::string>>> RecordedResults(
      std::span<const Digest> action_keys) override;
  absl::StatusOr<std::vector<std::optional<std::string>>> ActionResults(
      std::string_view instance, std::span<const Digest> actions) override;
  absl::StatusOr<StoreInfo> Info() override;
  absl::StatusOr<uint64_t> AllocateSegment() override;
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) override;
  absl::Status Commit(const CommitBatch& batch) override;
  absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) override;
  absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id) override;
  absl::Status Forget(std::span<const Digest> action_keys) override;
  absl::StatusOr<RevokeReport> Revoke(const RevokeOptions& options) override;
  absl::StatusOr<std::vector<record::Revocation>> Revocations() override;
  absl::Status ChangeLeases(const LeaseChanges& changes) override;
  absl::StatusOr<std::vector<RootLease>> Leases() override;
  absl::StatusOr<StoreStats> Stats(const StatsOptions& options) override;
  using StoreAdmin::Stats;
  using StoreAdmin::Verify;
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions&) override;
  // UNIMPLEMENTED.
  absl::StatusOr<GcReport> Collect(const GcOptions&) override;
  absl::StatusOr<WhyReport> Why(const Digest&, size_t) override;

 private:
  struct Stored {
    Blob bytes;
    BlobLocation location;
  };
  bool HasLocked(const Digest& digest) const GALLEY_REQUIRES(mutex_);
  bool IsCompleteLocked(const std::string& result) const GALLEY_REQUIRES(mutex_);
  void AddSetLocked(const Digest& weak_key, const std::string& set) GALLEY_REQUIRES(mutex_);
  void LoseLocked(const Digest& digest) GALLEY_REQUIRES(mutex_);

  const std::string store_id_;
  mutable base::Mutex mutex_;
  uint64_t commits_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint64_t loss_epoch_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint64_t disputed_epoch_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint64_t quarantined_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::map<Digest, Stored> blobs_ GALLEY_GUARDED_BY(mutex_);
  // Bytes by segment, one blob behind another.
  std::map<uint64_t, std::string> segments_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::pair<Digest, BlobLocation>, Blob> written_ GALLEY_GUARDED_BY(mutex_);
  std::map<Digest, std::vector<std::string>> sets_ GALLEY_GUARDED_BY(mutex_);
  std::map<Digest, std::string> results_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, Digest>, std::string> action_results_ GALLEY_GUARDED_BY(mutex_);
  std::vector<record::Revocation> revocations_ GALLEY_GUARDED_BY(mutex_);
  std::vector<PublishedRoot> roots_ GALLEY_GUARDED_BY(mutex_);  // in the order published
  // By name. Nothing is collected here, so leases stay until they are released.
  std::map<std::string, RootLease> leases_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
