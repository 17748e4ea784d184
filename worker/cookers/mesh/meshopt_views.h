// Reading of EXT_meshopt_compression: decompresses the bytes of a buffer view by meshoptimizer's
// decoders, which are made for foreign bytes.
// Source:
// https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/EXT_meshopt_compression
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/document.h"

namespace galley::worker::mesh {

inline constexpr const char* kMeshoptCompression = "EXT_meshopt_compression";

// `extension` lies at `pointer`; `buffer` holds the compressed bytes. `document` keeps the decoded
// bytes. INVALID_ARGUMENT: a member out of its range, or bytes that do not decode.
absl::StatusOr<std::string_view> DecodeMeshoptView(Document& document, const Json& extension,
                                                   std::string_view buffer,
                                                   const std::string& pointer);

}  // namespace galley::worker::mesh
