// MakePatch: makes a patch of two roots: `galley patch A B -o FILE`.
//
// New contents are built from content-defined chunks (chunker.h) of the old files that were
// changed, removed or renamed, so that a small change of a large file costs about two chunks; a
// content that the old tree has anywhere costs nothing. Equal roots and programs make equal
// patches. Memory: one content, and about 100 bytes for each chunk of these old files.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::director {

struct PatchReport {
  uint64_t files = 0;          // files that differ
  uint64_t bytes_new = 0;      // bytes of contents that the old tree lacks
  uint64_t bytes_literal = 0;  // chunk bytes in the patch, before compression
  uint64_t bytes_written = 0;  // size of the patch
};

// NOT_FOUND, DATA_LOSS: a blob is absent or damaged. INVALID_ARGUMENT: a path that differs is a
// name of Galley's own. FAILED_PRECONDITION: `file` cannot be made. CANCELLED: `interrupted` became
// true. Other codes: errors of writing `file`. After an error there is no new file.
absl::StatusOr<PatchReport> MakePatch(store::BlobStore& store, const Digest& from, const Digest& to,
                                      const std::string& file,
                                      const std::atomic<bool>* interrupted = nullptr);

}  // namespace galley::director
