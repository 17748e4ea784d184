// WhyFinder: finds out what keeps a blob in a store, and what became of one that is gone.
//
// Errors: those of the index and of the disk; what cannot be read keeps nothing.
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
  // `limit`: of roots and of results that are listed.
  WhyFinder(StoreParts& store, const Digest& digest, size_t limit)
      : store_(store), digest_(digest), limit_(limit) {}

  absl::StatusOr<WhyReport> Run();

 private:
  absl::Status FindLocation();
  absl::Status CheckReadable(const BlobLocation& location) const;
  absl::Time WrittenAt(const BlobLocation& location) const;
  absl::Status FindRoots();
  absl::StatusOr<std::optional<std::string>> PathIn(const Digest& folder, size_t depth);
  absl::Status FindResults();
  absl::Status FindSessions();
  absl::Status FindLosses();

  StoreParts& store_;
  const Digest digest_;
  const size_t limit_;
  WhyReport report_;
  std::string unnoticed_;  // that its bytes are not where the index has them
  absl::flat_hash_map<Digest, std::optional<std::string>> paths_;  // in folders
};

}  // namespace galley::store
