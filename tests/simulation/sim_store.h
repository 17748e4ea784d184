// SimStore: a store on the simulation's disk. The order of a commit and of an opening and the
// records are the real store's (commit_order.h, sync_doubt.h, segment_format.h, log_records.h).
// Only the index is a map, made anew from the log by each owner.
//
//   store/segments/<n>   records; each owner begins one, its log; the others belong to workers
//   store/files/<hash>   large blobs
//   store/syncing        the mark
//   store/leases         the leases
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "common/store/interface/sync_doubt.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_format.h"
#include "tests/simulation/disk.h"

namespace galley::simulation {

std::string SegmentName(uint64_t segment);
std::string BlobFileName(const Digest& digest);
// Writes as a worker does, unsynced: a record in the worker's segment, or a file of its own.
store::BlobLocation WriteBlob(Disk& disk, uint64_t segment, const Digest& digest,
                              std::string_view bytes, bool is_large);
// The unverified bytes at `location`. NOT_FOUND, DATA_LOSS.
absl::StatusOr<std::string> ReadBlob(const Disk& disk, const Digest& digest,
                                     const store::BlobLocation& location);

// Reads as a reader does. DATA_LOSS: the bytes are wrong.
absl::StatusOr<std::string> ReadVerified(const Disk& disk, const Digest& digest,
                                         const store::BlobLocation& location);

class SimStore final : public store::Store {
 public:
  // A new owner reads the log up to a torn end. Throws Disk::Crash: the store cannot be opened.
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
  absl::Status ChangeLeases(const store::LeaseChanges& changes) override;
  absl::StatusOr<std::vector<store::RootLease>> Leases() override;

  // Drops the blob; the loss epoch rises.
  void Evict(const Digest& digest);
  // Turns a bit of the blob's bytes. False: it has none.
  bool Rot(const Digest& digest, Random& random);
  // Somebody deletes or cuts a segment, but not the one that this owner fills. `of_log`: it may be
  // an owner's. `keys`: of the results in it.
  struct Destroyed {
    uint64_t segment = 0;  // 0: there was none
    std::vector<Digest> keys;
  };
  Destroyed DestroySegment(Random& random, bool of_log);
  // Acts like an owner whose index is damaged.
  void LoseIndex();
  // Whether the disk has the file or segment, in sufficient length, whatever the index says.
  bool IsOnDisk(const Digest& digest) const;
  bool LiesAt(const Digest& digest, const store::BlobLocation& place) const;
  // Whether the disk has the result, and everything that it names.
  bool IsOnDiskWithAll(const Digest& action_key) const;
  std::vector<Digest> blobs() const { return KeysOf(blobs_); }
  std::vector<Digest> keys() const { return KeysOf(results_); }  // of results
  // Whether the result under this key would survive a power cut.
  bool IsSafe(const Digest& action_key) const;
  std::vector<Digest> disputes() const;  // keys of disputed results
  bool IsInDispute(const Digest& action_key) const;
  std::optional<store::BlobLocation> LocationOf(const Digest& digest) const;
  // The digest of the bytes in the blob's place; nullopt: there are none.
  std::optional<Digest> WhatLiesFor(const Digest& blob) const;
  // Asked at each commit of results. True: there is no space.
  std::function<bool()> commit_fails;
  // Asked by calls that may fail without harm to what is stored. True: an input/output error.
  std::function<bool()> fails;
  // Called at each commit and each publication that succeeds.
  std::function<void()> wrote;
  // Called when a commit ended in a dispute.
  std::function<void()> disputed;
  // Called when a blob's bytes were read and are wrong; afterwards the blob is dropped.
  std::function<void(const Digest& blob, const Digest& bytes)> gives_up;
  // Called when a blob is dropped.
  std::function<void(const Digest& blob)> loses;
  // Called for each blob that somebody puts, gets, or is told of that it is there.
  std::function<void(const Digest& blob)> tells;
  // Called when a blob that was Put, and not committed, is gone because a sync failed.
  std::function<void(const Digest& blob)> drops_unsynced;

 private:
  struct Plan {
    std::vector<store::LocatedBlob> adopted;
    std::vector<store::LocatedBlob> named;  // `adopted`, and what the owner wrote itself
    std::vector<const store::PutResult*> results;
    std::deque<store::PutResult> disputes;  // of `results`
    std::string conflicts;
  };
  template <typename Map>
  static std::vector<Digest> KeysOf(const Map& map) {
    std::vector<Digest> all;
    for (const auto& [key, value] : map) all.push_back(key);
    return all;
  }
  // Appends a record to the log, but not yet to the index. Returns the record's place.
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
  void ReadLeases();
  absl::Status WriteLeases(std::string_view text);
  void ReadLog(const std::string& name, uint64_t segment);

  Disk& disk_;
  std::map<Digest, store::BlobLocation> blobs_;
  std::map<Digest, store::BlobLocation> pending_;
  std::map<Digest, std::vector<std::string>> sets_;
  std::map<Digest, std::string> results_;
  std::map<Digest, store::BlobLocation> places_;  // of results' records
  std::vector<store::PublishedRoot> roots_;
  std::map<std::string, store::RootLease> leases_;  // by name
  store::SyncMark mark_;
  store::DecodedSyncMark found_mark_;  // left by earlier owners
  store::DoubtfulSegments doubtful_;
  uint64_t loss_epoch_ = 0;
  uint64_t segment_next_ = 1;
  uint64_t log_ = 0;  // the segment that is being filled
  uint64_t log_synced_ = 0;
};

}  // namespace galley::simulation
