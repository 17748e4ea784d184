// StableRead: reads the bytes of one version of a file, or fails with ABORTED.
#pragma once

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/cancellation.h"
#include "common/content/snapshot.h"

namespace galley::content {

// An ABORTED error: the file has changed since the snapshot.
absl::Status StaleError(std::string_view host_path, std::string_view why);

// Hands the bytes of the file of `entry` to `take` in pieces, and compares the file's stat with the
// entry before and after. ABORTED: the file changed or is gone; the pieces must not be used.
// FAILED_PRECONDITION: the file cannot be read. INTERNAL: the disk failed. CANCELLED: `stop` was
// cancelled, which is checked between two pieces; null: never.
absl::Status StableRead(const FileEntry& entry, const std::function<void(std::string_view)>& take,
                        const Cancellation* stop = nullptr);

}  // namespace galley::content
