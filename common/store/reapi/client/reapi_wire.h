// REAPI's names of blobs, and what its statuses say. Pure but for protobuf. Its digests:
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

// "[instance/]blobs/<hash>/<size>", or "[instance/]compressed-blobs/zstd/...".
std::string ReadName(std::string_view instance, const Digest& digest, bool is_zstd);
// "[instance/]uploads/<uuid>/blobs/<hash>/<size>", or "compressed-blobs/zstd" in it.
std::string WriteName(std::string_view instance, std::string_view uuid, const Digest& digest,
                      bool is_zstd);

// google.rpc.RetryInfo in the details of a status (a serialised google.rpc.Status), if there.
std::optional<absl::Duration> RetryInfoIn(const std::string& status_details);

}  // namespace galley::store
