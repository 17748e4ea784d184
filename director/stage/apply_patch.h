// ApplyPatch: applies a patch to a folder: `galley apply FILE DIR`.
//
// DIR holds the files of the patch's old tree, made by a checkout or a cook; no store is needed.
// Only files that the patch changes, removes, renames or takes pieces from are read and hashed;
// other files do not matter.
//
//   1. the whole patch is verified (patch_reader.h);
//   2. DIR is verified: each file is as in the old tree, or already as in the new tree;
//   3. each new content is put together in DIR/.galley-apply and verified. Contents that an
//      interrupted run made there are used again. Until here nothing else in DIR was touched;
//   4. everything there is synced, then DIR/.galley-apply/journal, which names the patch: from now
//      on the run goes forward only. Files are removed, the new files renamed to their places, DIR
//      is synced, .galley-apply goes.
//
// A run that was killed or lost power before the journal left DIR as it was. After the journal, the
// next run with the same patch completes the work, and a run with another patch is refused.
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
  uint64_t kept = 0;  // already as in the new tree
  uint64_t bytes_written = 0;
  bool is_resumed = false;  // an earlier run had begun to replace files
};

// DATA_LOSS: the patch is damaged; nothing was touched. FAILED_PRECONDITION: the folder does not
// have the files of the patch (the text names the first such file), another process works on it, or
// it holds another patch that is half applied. NOT_FOUND: no such patch or folder. CANCELLED:
// `interrupted` became true before the journal was written; later `interrupted` is ignored. Other
// codes: errors of reading and writing.
absl::StatusOr<ApplyReport> ApplyPatch(const std::string& patch, const std::string& directory,
                                       const std::atomic<bool>* interrupted = nullptr);

}  // namespace galley::director
