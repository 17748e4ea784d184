// Collector: drops what nobody needs from a store: one collection.
//
// First it is found out, without holding anybody up, what is needed and what is to go. Then that
// goes in small steps (sweeper.h). Last, segments go in which little is left (compactor.h), and
// files that nobody adopted (left_behind.h) have gone before, since that needs no space.
//
// Errors: ABORTED: another index was made meanwhile, so begin anew. CANCELLED: by the caller.
// DATA_LOSS: a folder of a kept tree cannot be read. What went until then was needed by nobody.
// Threads: one, under Maintenance's lock of collections.
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

// Needed: the digests that are needed, with their sizes. A digest is known by eight bytes of its
// hash: another one may be taken for it, and stays.
class Needed {
 public:
  // False: it was there.
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
  // `coverage`: of the index by which it is found out what may go.
  Collector(StoreParts& store, const GcOptions& options, const Coverage& coverage)
      : store_(store), options_(options), coverage_(coverage) {}

  absl::StatusOr<GcReport> Run();

 private:
  // Result: what is known of a stored result, ours or another program's.
  struct Result {
    Digest key;
    RecordPlace place;
    std::optional<uint64_t> weak_key;  // its fingerprint, as in Needed; none: not known
    bool is_disputed = false;
    bool is_ours = true;
    absl::Time used;
    std::vector<Digest> named;  // the outputs first
    size_t outputs = 0;
  };

  bool IsTold(const Digest& digest) const;
  absl::Status MarkRoots();
  absl::Status MarkTree(const Digest& root);
  absl::Status ReadResults();
  absl::Status Read(const Digest& key, const ResultPlace& place, RecordKind kind);
  static void ReadOurs(const std::string& payload, Result& result);
  void ChooseResults();
  void KeepGenerators(std::vector<Result*>& generators, std::vector<Result*>& others);
  static void SortByUse(std::vector<Result*>& results);
  void Keep(const Result& result);
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
  absl::flat_hash_set<uint64_t> weak_keys_;  // of results that stay
  bool some_weak_key_is_unknown_ = false;
  std::vector<std::pair<Digest, RecordPlace>> dropped_sets_;
  std::map<uint64_t, absl::Time> segment_written_;
};

}  // namespace galley::store
