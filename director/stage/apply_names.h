// ApplyNames: the names in a sandbox or checkout that are Galley's own.
#pragma once

#include <string_view>

#include "common/content/snapshot.h"
#include "director/stage/ledger.h"

namespace galley::director {

// The folder in which ApplyPatch gathers new contents.
inline constexpr std::string_view kApplyFolder = ".galley-apply";

// Exists while a checkout is unfinished: names the root as "<hex>/<size>\n".
inline constexpr std::string_view kCheckoutName = ".galley-checkout";

// Names the sandbox's owner (ownership.h).
inline constexpr std::string_view kOwnerName = content::kSandboxFile;

// Returns true for files that staging keeps in a sandbox for itself: no tree can have such a name,
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

// Returns true for paths that a patch must not contain.
inline bool IsOwnPath(std::string_view path) {
  return path.substr(0, path.find('/')) == kApplyFolder || IsStagingsOwn(path);
}

}  // namespace galley::director
