// Names that a scan left out since they are in a sandbox (Snapshot::sandboxes).
#pragma once

#include <string>
#include <string_view>

#include "common/content/snapshot.h"

namespace galley::content {

// The host path of the sandbox that would hold the file at virtual path `path`; empty: none.
std::string SandboxAround(const Snapshot& snapshot, std::string_view path);

}  // namespace galley::content
