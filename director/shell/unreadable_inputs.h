// UnreadableInputs: checks the bytes that an attempt got to read when the attempt failed because of
// its machine.
//
// A worker reads cooked inputs and generated sources in the places where the store keeps them, and
// says only that it cannot read them. Nobody else would look at these blobs in this cook, and the
// job would be tried again until the package fails.
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
  std::string package;  // the package that made the blob
  // The place that a worker reported for the blob: the store may not have the blob yet.
  std::optional<store::BlobLocation> reported_at = std::nullopt;
};

struct Unreadable {
  std::vector<std::string> packages;  // packages whose blobs are lost, sorted
  std::vector<Digest> blobs;          // sorted
};

// Says whether the segment or file holds bytes there at all.
using LiesAt = std::function<bool(const Digest& digest, const store::BlobLocation& location)>;

// Reads each of `blobs`; the store quarantines blobs with wrong bytes. The journal no longer trusts
// the packages whose blobs are lost, which must be made again (PackagesCleared). Commit thread.
absl::StatusOr<Unreadable> DistrustUnreadable(store::Store& store, Journal& journal,
                                              std::span<const GivenBlob> blobs,
                                              const LiesAt& lies_at);

}  // namespace galley::director
