// ApplyNames: names below a folder that are Galley's own.
#pragma once

#include <string_view>

#include "common/content/snapshot.h"
#include "director/stage/ledger.h"

namespace galley::director {

// The folder in which a patch that is being applied keeps its new contents so far.
inline constexpr std::string_view kApplyFolder = ".galley-apply";

// In a folder whose checkout is not finished: names the root as "<hex>/<size>\n".
inline constexpr std::string_view kCheckoutName = ".galley-checkout";

// Says whose sandbox the folder is (ownership.h).
inline constexpr std::string_view kOwnerName = content::kSandboxFile;

// Returns true for names that staging keeps in a sandbox for itself: no tree can have such a name,
// and no stage removes such a file.
inline bool IsStagingsOwn(std::string_view path) {
  const std::string_view top = path.substr(0, path.find('/'));
  if (top == kMarkerName || top == kPendingName || top == kFilesName || top == kOwnerName)
    return true;
  // Names of PutAside (common/base/own_file.h).
  for (const std::string_view aside : {".galley-root.broken-", ".galley-root.pending.broken-",
                                       ".galley-root.files.broken-", ".galley-sandbox.broken-"}) {
    if (top.starts_with(aside)) return true;
  }
  return false;
}

// Returns true for paths that a patch must not bring.
inline bool IsOwnPath(std::string_view path) {
  return path.substr(0, path.find('/')) == kApplyFolder || IsStagingsOwn(path);
}

}  // namespace galley::director
