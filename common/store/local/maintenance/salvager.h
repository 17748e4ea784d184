// Salvager: the part of a verify that finds blobs which results or kept trees name and the index
// does not know, though they lie there whole: after a part of the log was lost, or one of two
// copies. They are put as if they came anew: nobody knows whether the disk has them.
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
  // `cursor` gets a problem for each blob that was found.
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
