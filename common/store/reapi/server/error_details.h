// Statuses with the details that REAPI v2 asks for, as payloads of absl::Status under their type
// URLs (proto/google/rpc/error_details.proto), and a status as google.rpc.Status. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/digest.h"

namespace galley::store {

// Details travel in a trailer, of which a peer takes 8 KiB by default: no more violations than
// this. Who puts those that are named and asks again is told the next.
inline constexpr size_t kViolationsMax = 32;
inline constexpr size_t kStatusTextBytesMax = 1024;

// FAILED_PRECONDITION with a PreconditionFailure: a violation {"MISSING", "blobs/{hash}/{size}"}
// for each of `missing`, which is not empty.
absl::Status MissingBlobsError(std::string_view what, std::span<const Digest> missing);
// RESOURCE_EXHAUSTED with a RetryInfo.
absl::Status BusyError(std::string_view what, absl::Duration retry_delay);

// A status for a peer: text of a length that fits; what only says where things lie here is left
// out (INTERNAL and UNKNOWN have a text for all).
absl::Status ForPeers(const absl::Status& status);
// google.rpc.Status {code 1, message 2, details 3}; "" for OK.
std::string EncodeRpcStatus(const absl::Status& status);

}  // namespace galley::store
