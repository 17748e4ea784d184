// Revoker: revokes the results of one worker (StoreAdmin::Revoke).
//
// The revocation is on the disk before any result goes: after an interrupt, another Revoke finds
// the rest. A result that was replaced while the results were read stays.
//
// Errors: those of the index and of the disk; an unreadable result is skipped, since no caller gets
// it either.
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
  std::map<Digest, RecordPlace> ours_, others_;  // results to forget, and where they were read
};

}  // namespace galley::store
