// LocalStore: the Store of a store directory's owner.
//
// Parts (store_parts.h) do the work: Puts takes blobs, Commits makes changes durable,
// StoreReader reads, Losses handles wrong bytes, and Maintenance does everything else. The owner's
// segments are the log: the index can be made again from them alone.
//
// Errors: as Store.
// Threads: any.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/store/interface/dead_bytes.h"
#include "common/store/interface/store.h"
#include "common/store/interface/stored_files.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/maintenance.h"
#include "common/store/local/open.h"
#include "common/store/local/recovery.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

class LocalStore final : public StoreDirectory, public DeadBytes, public StoredFiles {
 public:
  // `options`: complete (StoreFolder).
  LocalStore(std::string directory, OpenedLayout layout, Recovered recovered,
             LocalStoreOptions options);
  // Commits the pending blobs.
  ~LocalStore() override;

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;
  std::vector<absl::Status> PutMany(std::span<const BlobView> blobs) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                        uint64_t offset) override;
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const Digest& digest) override;
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
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override;
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
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) override;
  absl::StatusOr<GcReport> Collect(const GcOptions& options) override;
  absl::StatusOr<GcReport> GiveBackDeadBytes(Cancellation* cancellation) override;
  absl::Status CheckFiles() override;
  absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit) override;

 private:
  const FileDescriptor folder_lock_, lock_;
  StoreParts parts_;
  Maintenance maintenance_;
};

}  // namespace galley::store
