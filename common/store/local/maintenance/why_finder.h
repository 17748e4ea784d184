// WhyFinder: finds what keeps a blob in a store, and the history of an absent blob.
//
// Errors: those of the index and of the disk; an unreadable result or tree keeps nothing.
// Threads: one, once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

class WhyFinder {
 public:
  // `limit`: the most roots, the most leases, and the most results, to list.
  WhyFinder(StoreParts& store, const Digest& digest, size_t limit)
      : store_(store), digest_(digest), limit_(limit) {}

  absl::StatusOr<WhyReport> Run();

 private:
  absl::Status FindLocation();
  absl::Status CheckReadable(const BlobLocation& location) const;
  absl::Time WrittenAt(const BlobLocation& location) const;
  absl::Status FindRoots();
  absl::Status FindLeases();
  absl::StatusOr<std::optional<std::string>> PathIn(const Digest& folder, size_t depth);
  absl::Status FindResults();
  absl::StatusOr<bool> IsInputOf(const Digest& action_key);
  absl::Status FindSessions();
  absl::Status FindLosses();

  StoreParts& store_;
  const Digest digest_;
  const size_t limit_;
  WhyReport report_;
  std::string unnoticed_;  // says that the blob is not where the index has it
  absl::flat_hash_map<Digest, std::optional<std::string>> paths_;  // of the blob, by folder
};

}  // namespace galley::store
