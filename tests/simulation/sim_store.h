// SimStore: a store on the simulation's disk. The order of a commit and of an opening, the records
// and their checks are the real store's (commit_order.h, sync_doubt.h, segment_format.h,
// log_records.h, VerifyingBlobStore); only the index is a map, made anew from the log by each
// owner.
//
//   store/segments/<n>   records; each owner begins one, its log; the others belong to workers
//   store/files/<hash>   large blobs
//   store/syncing        the mark
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "common/store/interface/sync_doubt.h"
#include "common/store/layers/verifying_blob_store.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_format.h"
#include "tests/simulation/disk.h"

namespace galley::simulation {

std::string SegmentName(uint64_t segment);
std::string BlobFileName(const Digest& digest);
// As a worker: a record in its segment, or a file of its own. As the product does it, unsynced.
store::BlobLocation WriteBlob(Disk& disk, uint64_t segment, const Digest& digest,
                              std::string_view bytes, bool is_large);
// The bytes at `location`, which are not verified. NOT_FOUND, DATA_LOSS.
absl::StatusOr<std::string> ReadBlob(const Disk& disk, const Digest& digest,
                                     const store::BlobLocation& location);

// As a reader does it: DATA_LOSS when the bytes are others.
absl::StatusOr<std::string> ReadVerified(const Disk& disk, const Digest& digest,
                                         const store::BlobLocation& location);

class SimStore final : public store::Store {
 public:
  // A new owner: reads the log up to what a crash left torn. Throws Disk::Crash: it cannot be
  // opened.
  explicit SimStore(Disk& disk);

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) override;
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) override;
  absl::StatusOr<store::StoreInfo> Info() override;
  absl::StatusOr<uint64_t> AllocateSegment() override;
  absl::StatusOr<std::vector<std::optional<store::BlobLocation>>> Locate(
      std::span<const Digest> digests) override;
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override;
  absl::Status Commit(const store::CommitBatch& batch) override;
  absl::StatusOr<uint64_t> Publish(const store::PublishedRoot& root) override;
  absl::StatusOr<std::vector<store::PublishedRoot>> Roots(std::string_view project_id) override;
  absl::Status Forget(std::span<const Digest> action_keys) override;

  // The blob is dropped; the loss epoch rises.
  void Evict(const Digest& digest);
  // A bit of its bytes turns. False: it has none.
  bool Rot(const Digest& digest, Random& random);
  // Somebody deletes or cuts a segment, but not the one that this owner fills. The keys of the
  // results that it held. `of_log`: the owners' may be chosen, too.
  struct Destroyed {
    uint64_t segment = 0;  // 0: there was none
    std::vector<Digest> keys;
  };
  Destroyed DestroySegment(Random& random, bool of_log);
  // As an owner does it whose index is damaged.
  void LoseIndex();
  // By what the disk has, whatever the index says: file or segment is there, and long enough.
  bool IsOnDisk(const Digest& digest) const;
  bool LiesAt(const Digest& digest, const store::BlobLocation& place) const;
  // The result, and all that it names.
  bool IsOnDiskWithAll(const Digest& action_key) const;
  std::vector<Digest> blobs() const;
  std::vector<Digest> keys() const;      // of results
  bool Holds(const Digest& action_key);  // it, and all that it names
  // The result under this key would survive a power cut.
  bool IsSafe(const Digest& action_key) const;
  std::vector<Digest> disputes() const;  // their keys
  bool IsInDispute(const Digest& action_key) const;
  std::optional<store::BlobLocation> LocationOf(const Digest& digest) const;
  // The digest of the bytes that lie where the blob is said to be; nullopt: nothing lies there.
  std::optional<Digest> WhatLiesFor(const Digest& blob) const;
  // Asked at each commit of results. True: there is no space.
  std::function<bool()> commit_fails;
  // Asked by calls that may fail without harm to what is stored. True: an input/output error.
  std::function<bool()> fails;
  // Called at each commit and each publication that goes through.
  std::function<void()> wrote;
  // Called when a commit ended in a dispute.
  std::function<void()> disputed;
  // Called when a blob's bytes were read and are others: the blob is dropped after this.
  std::function<void(const Digest& blob, const Digest& bytes)> gives_up;
  // Called when a blob is dropped.
  std::function<void(const Digest& blob)> loses;

 private:
  class Raw;
  struct Plan {
    std::vector<store::LocatedBlob> adopted;
    std::vector<store::LocatedBlob> pending;
    std::vector<const store::PutResult*> results;
    std::deque<store::PutResult> disputes;  // of `results`
    std::string conflicts;
  };
  // Appends a record to the log, not yet to the index. Returns where the record lies.
  store::BlobLocation Append(store::RecordKind kind, const Digest& key, std::string_view payload);
  void Recover();
  absl::Status WriteLogAnew();
  absl::Status SyncAndReadLog();
  absl::Status WriteFilesAnew();
  absl::Status WriteAnew(const std::string& path);
  bool IsOwners(const std::string& name, uint64_t segment) const;
  void Take(store::RecordKind kind, const Digest& key, std::string_view payload,
            const store::BlobLocation& place);
  absl::Status Fails() const;
  absl::StatusOr<Plan> MakePlan(const store::CommitBatch& batch);
  absl::Status Write(const Plan& plan, const store::PublishedRoot* root);
  void Index(const Plan& plan);
  static bool TellsOfDisputes(const Plan& plan);
  absl::Status SyncLog();
  absl::Status SyncLogAlone();
  bool IsComplete(const std::string& result);
  void Lose(const std::vector<Digest>& digests);
  void RaiseEpoch();
  void ReadLog(const std::string& name, uint64_t segment);

  Disk& disk_;
  store::VerifyingBlobStore verified_;
  std::map<Digest, store::BlobLocation> blobs_;
  std::map<Digest, store::BlobLocation> pending_;
  std::map<Digest, std::vector<std::string>> sets_;
  std::map<Digest, std::string> results_;
  std::map<Digest, store::BlobLocation> places_;  // of results' records
  std::vector<store::PublishedRoot> roots_;
  store::SyncMark mark_;
  store::DecodedSyncMark found_mark_;  // of the owners before
  store::DoubtfulSegments doubtful_;
  uint64_t loss_epoch_ = 0;
  uint64_t segment_next_ = 1;
  uint64_t log_ = 0;  // being appended to
  uint64_t log_synced_ = 0;
};

}  // namespace galley::simulation
