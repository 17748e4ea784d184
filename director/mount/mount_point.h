// Mount points: whether a folder may become one, and what a killed mount left there.
//
// Threads: none.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace galley::mount {

// A file at the top of each mount that no listing shows: a scan passes over the mount, as over a
// sandbox (content::kSandboxFile).
inline constexpr const char* kMarkerFile = ".galley-sandbox";

// A folder in which nothing may be mounted, and what it is: "the project's mount /Game".
struct ForbiddenFolder {
  std::string path;
  std::string what;
};

// True: a mount of Galley is there whose process is gone, and which was taken away.
// FAILED_PRECONDITION: the folder is the mount point of something that is alive. Others: it cannot
// be taken away.
absl::StatusOr<bool> CleanStaleMount(const std::string& folder);

// Returns the folder's real path. FAILED_PRECONDITION: it is no folder, is not empty, or lies in a
// forbidden folder or in a sandbox, or around one of them; the text says what to do.
absl::StatusOr<std::string> CheckMountPoint(const std::string& folder,
                                            const std::vector<ForbiddenFolder>& forbidden);

}  // namespace galley::mount
