// DecodePreview: an image of a KTX2 file -> RGBA8 for people to look at.
//
//   bc1, bc3, rgba8, astc     unchanged
//   bc4                       red in all three channels
//   bc5, astc normals         (x, y) and z = sqrt(1 - x^2 - y^2), as a normal map is drawn
//   rgba16f                   as sRGB; when some channel is above 1, Reinhard's curve with the
//                             brightest as white: x (1 + x / white^2) / (1 + x)
//
// No key depends on a preview.
// Errors: INVALID_ARGUMENT: as ParseKtx2, or there is no such level or image; OUT_OF_RANGE: astcenc
// has not enough memory.
// Threads: any.
// Source: Reinhard et al., "Photographic Tone Reproduction for Digital Images", 2002, equation 4.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/cookers/texture/image.h"

namespace galley::worker::texture {

struct PreviewOptions {
  uint32_t level = 0;
  uint32_t image = 0;  // counts layer by layer, within a layer face by face
};

absl::StatusOr<Image> DecodePreview(std::string_view ktx2, const PreviewOptions& options);

}  // namespace galley::worker::texture
