// Collector: runs one collection: drops everything that nobody needs from a store.
//
// First it chooses what to keep and what to drop, without blocking anybody. The inputs of a result
// stay as long as the result does, up to the size that is asked for; where the result itself costs
// nothing, since a kept tree holds its outputs, the inputs alone may go. Then it removes files
// that nobody adopted (left_behind.h), which needs no space; drops the chosen blobs and results in
// small steps (sweeper.h); and last removes segments with few live bytes (compactor.h).
//
// Errors: ABORTED: another index was made meanwhile; begin anew. CANCELLED: by the caller.
// DATA_LOSS: a folder of a kept tree is no Directory. A leased tree never ends a collection: of a
// damaged one all that can be reached stays. Everything that was dropped before an error was needed
// by nobody.
// Threads: one, with Maintenance's lock of collections held.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/interface/store.h"
#include "common/store/local/maintenance/compactor.h"
#include "common/store/local/maintenance/holders.h"
#include "common/store/local/maintenance/sweeper.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

// Needed: the set of needed digests, and the sum of their sizes. A digest is known by eight bytes
// of its hash: another digest with the same bytes stays as well.
class Needed {
 public:
  // False: the digest was there already.
  bool Add(const Digest& digest) {
    if (!fingerprints_.insert(DigestHash()(digest)).second) return false;
    bytes_ += digest.size_bytes();
    return true;
  }
  bool Has(const Digest& digest) const { return fingerprints_.contains(DigestHash()(digest)); }
  uint64_t bytes() const { return bytes_; }

 private:
  absl::flat_hash_set<uint64_t> fingerprints_;
  uint64_t bytes_ = 0;
};

class Collector {
 public:
  // `coverage`: of the index that decides what may go.
  Collector(StoreParts& store, const GcOptions& options, const Coverage& coverage)
      : store_(store), options_(options), coverage_(coverage) {}

  absl::StatusOr<GcReport> Run();

 private:
  // Result: a stored result, ours or another program's.
  struct Result {
    Digest key;
    RecordPlace place;
    std::optional<uint64_t> weak_key;  // fingerprint, as in Needed; nullopt: unknown
    bool is_disputed = false;
    bool is_ours = true;
    absl::Time used;
    std::vector<Digest> named;  // named blobs, the outputs first
    size_t outputs = 0;
    bool has_inputs = false;  // its inputs were kept, too
    bool is_kept = false;
  };

  bool IsTold(const Digest& digest) const;
  absl::Status MarkRoots();
  absl::Status MarkKeptTree(const Digest& root);
  absl::Status MarkLeasedTree(const RootLease& lease);
  template <typename Tree>
  void MarkEntries(const Tree& directory, std::vector<Digest>& folders);
  absl::Status ReadResults();
  absl::Status Read(const Digest& key, const ResultPlace& place, RecordKind kind);
  static void ReadOurs(const std::string& payload, Result& result);
  absl::Status FindKeptActions();
  absl::Status ChooseResults();
  void KeepForTrees();
  void KeepGenerators(std::vector<Result*>& generators);
  absl::Status KeepByUse();
  absl::StatusOr<std::vector<Digest>> InputsOf(const Result& result) const;
  static void SortByUse(std::vector<Result*>& results);
  void Keep(Result& result);
  uint64_t BytesOfNew(const std::vector<Digest>& digests) const;
  absl::Status ChooseSets();
  absl::Status ChooseBlobs();
  bool IsYoung(const LocatedBlob& blob);
  absl::Time DisputesSince() const;
  absl::Time UnnamedSince() const;
  Sweeper::Plan SweepPlan() const;
  Dropped WhatGoes() const;

  StoreParts& store_;
  const GcOptions options_;
  const Coverage coverage_;
  GcReport report_;
  Holders holders_;
  Needed needed_, named_by_dropped_;
  std::vector<Result> results_;
  std::vector<const Result*> dropped_results_;
  std::vector<LocatedBlob> dropped_blobs_;
  absl::flat_hash_set<uint64_t> weak_keys_;  // of kept results
  bool some_weak_key_is_unknown_ = false;
  std::vector<std::pair<Digest, RecordPlace>> dropped_sets_;
  std::map<uint64_t, absl::Time> segment_written_;
};

}  // namespace galley::store
