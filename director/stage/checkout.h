// Checkout: writes a cooked tree, or a session tree with its links, to a folder that is no sandbox.
#pragma once

#include <atomic>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "director/stage/place_file.h"
#include "director/stage/sandbox.h"
#include "director/stage/stage_report.h"

namespace galley::director {

struct CheckoutOptions {
  // Large files become read-only hard links to the store's files, or clones, if the file system can
  // (place_file.h).
  bool link = false;
  VerifiedFiles* verified = nullptr;  // from earlier checkouts; null: none
  Sandbox::CloneFunction clone = CloneFile;
  const std::atomic<bool>* interrupted = nullptr;
};

// `galley checkout ROOT DIR`: writes the whole tree to a new or empty folder. The file
// `.galley-checkout` exists meanwhile: after an interrupt the next checkout of the same root starts
// from the beginning. Links become relative symbolic links, also where nothing is at the target.
// INVALID_ARGUMENT: a link leaves the tree; nothing is written. FAILED_PRECONDITION: the folder is
// not empty, or another process works on it.
// CANCELLED: `interrupted` became true.
absl::StatusOr<StageReport> Checkout(store::Store& store, const Digest& root,
                                     const std::string& directory,
                                     const CheckoutOptions& options = {});

}  // namespace galley::director
