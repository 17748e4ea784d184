// Applies a patch to a folder: `galley apply FILE DIR`.
//
// DIR holds the files of the patch's old tree, laid out by a checkout or a cook; no store is
// needed. Only files that the patch changes, removes, renames or takes pieces from are looked at
// (their bytes are hashed); others may be anything.
//
//   1. the whole patch is verified (patch_reader.h);
//   2. DIR is: each file is what the old tree has, or already what the new one has;
//   3. each new content is put together in DIR/.galley-apply and verified. What an interrupted run
//      made there is used again. Until here nothing else in DIR was touched;
//   4. all of it is synced, then DIR/.galley-apply/journal is, which names the patch: from now on
//      it goes forward only. Files are removed, the new ones renamed to their places, DIR is
//      synced, .galley-apply goes.
//
// A run that was killed or lost power before the journal left DIR as it was; after it, the next run
// with the same patch completes it, and one with another patch is refused.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace galley::director {

struct ApplyReport {
  uint64_t written = 0;  // added and changed
  uint64_t renamed = 0;
  uint64_t removed = 0;
  uint64_t kept = 0;  // were already as the new tree has them
  uint64_t bytes_written = 0;
  bool is_resumed = false;  // a run before this one had begun to replace files
};

// DATA_LOSS: the patch cannot be used; nothing was touched. FAILED_PRECONDITION: the folder is not
// what the patch is for (names the first file that is not), is worked on by another, or holds
// another patch half applied. NOT_FOUND: no such patch or folder. CANCELLED: `interrupted` became
// true before the journal was written; after that it is not looked at. Others: of reading and
// writing.
absl::StatusOr<ApplyReport> ApplyPatch(const std::string& patch, const std::string& directory,
                                       const std::atomic<bool>* interrupted = nullptr);

}  // namespace galley::director
