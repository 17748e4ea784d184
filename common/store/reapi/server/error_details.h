// Makes statuses with the details that REAPI v2 demands, and encodes statuses as google.rpc.Status.
// A detail is a message of proto/google/rpc/error_details.proto; absl::Status keeps it as a payload
// under the message's type URL. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/digest.h"

namespace galley::store {

// The most violations in one status: details travel in a trailer, of which a peer takes 8 KiB by
// default. A client that puts the named blobs and asks again gets the next names.
inline constexpr size_t kViolationsMax = 32;
inline constexpr size_t kStatusTextBytesMax = 1024;

// Returns FAILED_PRECONDITION with a PreconditionFailure: a violation {"MISSING",
// "blobs/{hash}/{size}"} for each of `missing`, at most kViolationsMax. REQUIRES: `missing` is not
// empty.
absl::Status MissingBlobsError(std::string_view what, std::span<const Digest> missing);
// Returns RESOURCE_EXHAUSTED with a RetryInfo.
absl::Status BusyError(std::string_view what, absl::Duration retry_delay);

// Returns the status as a peer may see it: the text is cut to kStatusTextBytesMax, and INTERNAL and
// UNKNOWN get a fixed text, which names nothing of this machine.
absl::Status ForPeers(const absl::Status& status);
// Returns google.rpc.Status {code 1, message 2, details 3}; "" for OK.
std::string EncodeRpcStatus(const absl::Status& status);

}  // namespace galley::store
