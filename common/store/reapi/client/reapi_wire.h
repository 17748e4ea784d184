// REAPI's resource names of blobs, and RetryInfo of its statuses. Pure; uses protobuf. Digests:
// common/wire/digest_messages.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/digest.h"

namespace galley::store {

namespace reapi = build::bazel::remote::execution::v2;

// Returns "[instance/]blobs/<hash>/<size>"; zstd: "[instance/]compressed-blobs/zstd/<hash>/<size>".
std::string ReadName(std::string_view instance, const Digest& digest, bool is_zstd);
// Returns "[instance/]uploads/<uuid>/blobs/<hash>/<size>"; zstd: "compressed-blobs/zstd" for
// "blobs".
std::string WriteName(std::string_view instance, std::string_view uuid, const Digest& digest,
                      bool is_zstd);

// Returns the delay of the google.rpc.RetryInfo in a status's details (a serialised
// google.rpc.Status), if there is one.
std::optional<absl::Duration> RetryInfoIn(const std::string& status_details);

}  // namespace galley::store
