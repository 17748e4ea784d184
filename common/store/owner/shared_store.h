// SharedStore: a store directory that several processes use; each may exit or be killed at any
// time. While another process owns the store, calls go to the owner's socket. When the owner is
// gone, this process becomes the owner, or a client of a process that was quicker, and repeats the
// call.
//
// Blobs that were Put and not committed are lost with the owner, so SharedStore keeps them and Puts
// them again. Above kUnsavedBytesMax it commits them. Segments of workers are files, which the next
// owner adopts as well. A blob that another client Put and nobody committed is not kept, though
// FindMissing may have reported it present.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/store/interface/dead_bytes.h"
#include "common/store/interface/replaced_folder.h"
#include "common/store/interface/store_admin.h"
#include "common/store/owner/folder_watch.h"

namespace galley::store {

class SharedStore final : public StoreDirectory, public DeadBytes, public ReplacedFolder {
 public:
  static constexpr uint64_t kUnsavedBytesMax = 64ull << 20;

  // UNAVAILABLE: the owner does not answer within `timeout`. Each later call also waits for an
  // owner for at most `timeout`.
  static absl::StatusOr<std::unique_ptr<SharedStore>> Open(const std::string& directory,
                                                           absl::Duration timeout);

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;
  std::vector<absl::Status> PutMany(std::span<const BlobView> blobs) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                        uint64_t offset) override;
  // Finish commits, since the bytes are not kept to be Put to another owner.
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
  // A number that is lost with its answer does no harm.
  absl::StatusOr<uint64_t> AllocateSegment() override;
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) override;
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override;
  // FAILED_PRECONDITION, also from Publish and ChangeLeases: the store's folder was deleted under
  // its owner.
  absl::Status Commit(const CommitBatch& batch) override;
  // Repeats the call only if the newest record of the platform is not this root.
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
  absl::Status CheckFolder() const override;
  absl::Status OpenWhatIsThere() override;
  absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit) override;

 private:
  struct Access {
    std::shared_ptr<StoreDirectory> store;
    bool is_owner = false;
    std::optional<FolderWatch> watch;  // set if is_owner
    uint64_t generation = 0;  // number of the access: shows whether another thread replaced it
  };
  // A Put that is not known to be durable.
  struct Unsaved {
    std::string bytes;
    bool is_put = false;  // the owner has confirmed the Put
  };

  SharedStore(std::string directory, absl::Duration timeout)
      : directory_(std::move(directory)), timeout_(timeout) {}

  absl::StatusOr<Access> OpenOnce() const;
  absl::StatusOr<Access> OpenWithin(absl::Time end) const;
  // Makes `call` on the store, and again on the next owner's store if this owner is gone.
  template <typename Call>
  auto RetriedOn(const Call& call) -> decltype(call(std::shared_ptr<StoreDirectory>()));
  template <typename Call>
  auto Retried(const Call& call) -> decltype(call(std::declval<StoreDirectory&>()));
  Access Current() const;
  // Replaces the access unless another thread did. OK: there is an access to try.
  absl::Status Replace(uint64_t generation, absl::Time end);
  // Waits until no call uses the opened store: a process opens an index only once.
  absl::Status LetGo(absl::Time end);
  absl::Status PutUnsavedTo(Store& store);
  std::set<uint64_t> PutSoFar() const;
  void NoteSaved(const std::set<uint64_t>& numbers);

  const std::string directory_;
  const absl::Duration timeout_;
  base::Mutex replace_mutex_;  // one thread at a time looks for an owner; locked before mutex_
  mutable base::Mutex mutex_;
  Access access_ GALLEY_GUARDED_BY(mutex_);
  // In the order of Put.
  std::map<uint64_t, std::shared_ptr<Unsaved>> unsaved_ GALLEY_GUARDED_BY(mutex_);
  uint64_t unsaved_bytes_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint64_t unsaved_next_ GALLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace galley::store
