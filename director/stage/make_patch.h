// MakePatch: makes a patch of two roots: `galley patch A B -o FILE`.
//
// New contents are put together from the contents of old files that differ too (changed, removed,
// renamed), cut by content (chunker.h), so that a small change of a large file costs about two
// chunks; a content that the old tree has anywhere costs nothing. Equal roots and programs make
// equal patches. Memory: one content, and about 100 bytes for each chunk of the old files that
// differ.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::director {

struct PatchReport {
  uint64_t files = 0;          // that differ
  uint64_t bytes_new = 0;      // of contents that the old tree lacks
  uint64_t bytes_literal = 0;  // part of bytes_new in the patch, before packing
  uint64_t bytes_written = 0;  // the patch
};

// NOT_FOUND, DATA_LOSS: the store lacks a blob. INVALID_ARGUMENT: a tree has a name that is
// Galley's own. Other codes: errors of writing `file`, which appears whole or not at all.
// FAILED_PRECONDITION: no file can be made there. CANCELLED: `interrupted` became true; nothing is
// left.
absl::StatusOr<PatchReport> MakePatch(store::BlobStore& store, const Digest& from, const Digest& to,
                                      const std::string& file,
                                      const std::atomic<bool>* interrupted = nullptr);

}  // namespace galley::director
