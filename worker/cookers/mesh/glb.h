// GLB: the container of glTF 2.0, section 4: a header of 12 bytes (magic "glTF", version 2,
// length), then chunks (length, type, bytes padded to 4): JSON first, then perhaps BIN.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

struct GlbChunks {
  std::string_view json;
  std::string_view binary;  // empty when there is none
  Warnings warnings;
};

// `size` rounded up to a multiple of 4: chunks, and the bytes of accessors, begin at multiples of
// 4.
inline size_t Padded(size_t size) { return (size + 3) & ~size_t{3}; }

inline bool IsGlb(std::string_view bytes) { return bytes.starts_with("glTF"); }
// INVALID_ARGUMENT: another version, truncated bytes, or a first chunk that is not JSON.
absl::StatusOr<GlbChunks> ReadGlb(std::string_view bytes);
// An empty `binary` gives no BIN chunk. INVALID_ARGUMENT: above 4 GiB, the limit of the container.
absl::StatusOr<std::string> WriteGlb(std::string_view json, std::string_view binary);

}  // namespace galley::worker::mesh
