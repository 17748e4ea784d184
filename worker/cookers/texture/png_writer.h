// WritePng: an 8-bit image -> a PNG file of RGBA, for previews.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/cookers/texture/image.h"

namespace galley::worker::texture {

// OUT_OF_RANGE: libpng has not enough memory. REQUIRES: 8-bit texels.
absl::StatusOr<std::string> WritePng(const Image& image);

}  // namespace galley::worker::texture
