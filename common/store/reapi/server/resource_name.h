// ResourceName: the resource names of ByteStream in REAPI v2:
//
//   read   [{instance}/]blobs/{hash}/{size}
//          [{instance}/]compressed-blobs/zstd/{hash}/{size}
//   write  [{instance}/]uploads/{uuid}/blobs/{hash}/{size}[/{anything}]
//          [{instance}/]uploads/{uuid}/compressed-blobs/zstd/{hash}/{size}[/{anything}]
//
// The size is always the size of the uncompressed bytes. An instance may have several segments,
// none of which is a keyword, so the first keyword ends it. Only SHA-256 is supported, which
// resource names do not mention. Pure.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::store {

enum class Compressor { kIdentity = 0, kZstd = 1 };  // numbers of the protocol

inline constexpr size_t kInstanceBytesMax = 256;
inline constexpr size_t kResourceNameBytesMax = 4096;

struct ResourceName {
  std::string instance;   // "": none
  std::string upload_id;  // of a write; "" for a read
  Compressor compressor = Compressor::kIdentity;
  Digest digest;
  bool operator==(const ResourceName&) const = default;
};

// INVALID_ARGUMENT: an empty segment, a keyword, control characters, no UTF-8, too long.
absl::Status CheckInstanceName(std::string_view instance);
// INVALID_ARGUMENT: size 0, but not the hash of the empty blob.
absl::Status CheckEmptyDigest(const Digest& digest);

// INVALID_ARGUMENT names the expected form.
absl::StatusOr<ResourceName> ParseReadName(std::string_view name);
absl::StatusOr<ResourceName> ParseWriteName(std::string_view name);

}  // namespace galley::store
