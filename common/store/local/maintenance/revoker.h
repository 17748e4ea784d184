// Revoker: takes back what one worker made (Store::Revoke).
//
// The revocation is on the disk before any result goes: whoever is interrupted says it again, and
// finds the rest. A result that was replaced while all were read is let be.
//
// Errors: those of the index and of the disk; a result that cannot be read is passed over, since
// nobody gets it either.
// Threads: one, once.
#pragma once

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

class Revoker {
 public:
  Revoker(StoreParts& store, const RevokeOptions& options) : store_(store), options_(options) {}

  absl::StatusOr<RevokeReport> Run();

 private:
  absl::Status Find(RecordKind kind);
  absl::Status Take(RecordKind kind, const Digest& key, const RecordPlace& place);
  absl::Status Forget();

  StoreParts& store_;
  RevokeOptions options_;
  RevokeReport report_;
  std::map<Digest, RecordPlace> ours_, others_;  // what is to go, where it was read
};

}  // namespace galley::store
