// Names below a folder that are Galley's own.
#pragma once

#include <string_view>

#include "common/content/snapshot.h"
#include "director/stage/ledger.h"

namespace galley::director {

// Where a patch that is being applied keeps what it has made so far.
inline constexpr std::string_view kApplyFolder = ".galley-apply";

// In a folder whose checkout is not finished: names the root. ("<hex>/<size>\n")
inline constexpr std::string_view kCheckoutName = ".galley-checkout";

// Says whose sandbox the folder is (ownership.h).
inline constexpr std::string_view kOwnerName = content::kSandboxFile;

// True for names that staging keeps in a sandbox for itself: no tree can have them, no stage
// removes them.
inline bool IsStagingsOwn(std::string_view path) {
  const std::string_view top = path.substr(0, path.find('/'));
  if (top == kMarkerName || top == kPendingName || top == kFilesName || top == kOwnerName)
    return true;
  // (common/base/own_file.h, PutAside.)
  for (const std::string_view aside : {".galley-root.broken-", ".galley-root.pending.broken-",
                                       ".galley-root.files.broken-", ".galley-sandbox.broken-"}) {
    if (top.starts_with(aside)) return true;
  }
  return false;
}

// True for paths that a patch must not bring.
inline bool IsOwnPath(std::string_view path) {
  return path.substr(0, path.find('/')) == kApplyFolder || IsStagingsOwn(path);
}

}  // namespace galley::director
