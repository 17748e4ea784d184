// Texture: the cooker png, jpg, tga, bmp, hdr -> ".ktx2". Settings, formats and filters:
// docs/cookers/texture.md.
//
// Load decodes the source and the files of the setting `layers`. Cook builds the mip chains (kept
// for further platforms), encodes, and writes the container. Observes file() of each layer, and
// platform(texture) only when the setting `format` is absent and the image is not HDR. No
// references (layers are baked in), no generated packages.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateTextureCooker();

}  // namespace galley::worker
