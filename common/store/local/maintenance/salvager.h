// Salvager: the part of a verify that finds blobs which results, kept trees or leased trees name
// and the index does not know, though their bytes lie whole in the store: after a part of the log,
// or one of two copies, was lost. Such blobs are put as if they were new: nobody knows whether they
// are synced.
//
// Errors: as Verifier's.
// Threads: one, once.
#pragma once

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/store/local/maintenance/verify_cursor.h"
#include "common/store/local/maintenance/verify_pace.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

class Salvager {
 public:
  // Adds a problem to `cursor` for each blob that it finds.
  Salvager(StoreParts& store, VerifyPace& pace, VerifyCursor& cursor)
      : store_(store), pace_(pace), cursor_(cursor) {}

  absl::Status Run();

 private:
  absl::Status WantedByResults(absl::flat_hash_set<Digest>& wanted);
  absl::Status WantedByTrees(absl::flat_hash_set<Digest>& wanted);
  absl::Status AddMissing(const std::vector<Digest>& digests, absl::flat_hash_set<Digest>& wanted);
  absl::Status SalvageFiles(absl::flat_hash_set<Digest>& wanted);
  absl::Status SalvageRecords(absl::flat_hash_set<Digest>& wanted);
  void NoteSalvaged(Digest digest, absl::flat_hash_set<Digest>& wanted);

  StoreParts& store_;
  VerifyPace& pace_;
  VerifyCursor& cursor_;
};

}  // namespace galley::store
