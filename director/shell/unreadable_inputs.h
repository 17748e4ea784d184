// Unreadable inputs: when an attempt failed for the machine's sake, the bytes that it was given are
// checked.
//
// A worker reads cooked inputs and generated sources where the store keeps them, and says no more
// than that they cannot be read. Nobody else would look at them in this cook, and the job would be
// tried again until the package fails.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "director/journal/journal.h"

namespace galley::director {

struct GivenBlob {
  Digest digest;
  std::string package;  // the package that made it
  // The place where a worker said that it lies: the store may not have it yet.
  std::optional<store::BlobLocation> reported_at = std::nullopt;
};

struct Unreadable {
  std::vector<std::string> packages;  // those whose blobs are lost, sorted
  std::vector<Digest> blobs;          // sorted
};

// Whether bytes lie there at all, in a segment or a file.
using LiesAt = std::function<bool(const Digest& digest, const store::BlobLocation& location)>;

// Reads each of `blobs`; the store quarantines those that are wrong. The journal no longer trusts
// the packages whose blobs are lost, and they are to be made again (PackagesCleared). Commit
// thread.
absl::StatusOr<Unreadable> DistrustUnreadable(store::Store& store, Journal& journal,
                                              std::span<const GivenBlob> blobs,
                                              const LiesAt& lies_at);

}  // namespace galley::director
