// The texture cooker: png, jpg, tga, bmp, hdr -> ".ktx2". Settings, formats and filters:
// docs/cookers/texture.md.
//
// Load decodes; Cook builds the mip chain (kept for further platforms), encodes and writes the
// container. Observes platform(texture), and only when the setting `format` is absent and the image
// is not HDR. No references, no generated packages.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateTextureCooker();

}  // namespace galley::worker
