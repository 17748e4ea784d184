// StableRead: the bytes of one version of a file, or ABORTED.
#pragma once

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/cancellation.h"
#include "common/content/snapshot.h"

namespace galley::content {

// ABORTED: the file is no longer what the snapshot saw.
absl::Status StaleError(std::string_view host_path, std::string_view why);

// Hands the bytes of `entry` to `take` piece by piece; its stat is held against the table before
// and after. ABORTED: it changed or is gone (then what was handed out is worth nothing).
// FAILED_PRECONDITION: it cannot be read. INTERNAL: the disk failed. CANCELLED: `stop` was
// cancelled, which is looked at between two pieces (null: nobody stops it).
absl::Status StableRead(const FileEntry& entry, const std::function<void(std::string_view)>& take,
                        const Cancellation* stop = nullptr);

}  // namespace galley::content
