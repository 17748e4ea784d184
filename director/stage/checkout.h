// Checkout: writes a cooked tree to a folder of its own, which is nobody's sandbox.
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
  // Large files become names of the store's own files, read-only, or clones of these files, if the
  // file system can (place_file.h).
  bool link = false;
  VerifiedFiles* verified = nullptr;  // of earlier checkouts; null: none
  Sandbox::CloneFunction clone = CloneFile;
  const std::atomic<bool>* interrupted = nullptr;
};

// `galley checkout ROOT DIR`: the whole tree in a new or empty folder. The file `.galley-checkout`
// exists meanwhile: the next checkout of the same root begins an interrupted checkout anew.
// FAILED_PRECONDITION: the folder is not empty, or another process works on it. CANCELLED:
// `interrupted` became true.
absl::StatusOr<StageReport> Checkout(store::Store& store, const Digest& root,
                                     const std::string& directory,
                                     const CheckoutOptions& options = {});

}  // namespace galley::director
