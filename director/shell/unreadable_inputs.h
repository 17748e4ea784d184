// UnreadableInputs: when an attempt failed because of its machine, checks the blobs that it was
// given to read.
//
// A worker reads cooked inputs and generated sources directly from the store's files, and reports
// only that it cannot read them. Without this check nothing would find the damage in this cook, and
// the job would be tried again until the package fails.
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
  // The location that a worker reported for the blob, which may not be in the store's index yet.
  std::optional<store::BlobLocation> reported_at = std::nullopt;
};

struct Unreadable {
  std::vector<std::string> packages;  // packages whose blobs are lost, sorted
  std::vector<Digest> blobs;          // sorted
};

// LiesAt: says whether there are bytes at the location.
using LiesAt = std::function<bool(const Digest& digest, const store::BlobLocation& location)>;

// Reads each of `blobs`; the store quarantines blobs with wrong bytes. Makes the journal distrust
// the packages of lost blobs, which must be made again (PackagesCleared). Commit thread.
absl::StatusOr<Unreadable> DistrustUnreadable(store::Store& store, Journal& journal,
                                              std::span<const GivenBlob> blobs,
                                              const LiesAt& lies_at);

}  // namespace galley::director
