// ReadLayers: the source and the files of the setting `layers` -> one image for each layer.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/cooker.h"
#include "worker/cookers/texture/image.h"
#include "worker/cookers/texture/texture_settings.h"

namespace galley::worker::texture {

// In order, the source first: all of one size, square when they are faces of a cube, all HDR or
// none. The limits of decode.h hold for all together, and are checked before each is decoded.
// Errors: as Decode; INVALID_ARGUMENT also for a path that is no file and for what does not fit
// together, with both names and sizes. What decoding warned of goes to the context.
absl::StatusOr<std::vector<Image>> ReadLayers(CookContext& context,
                                              const TextureSettings& settings);

}  // namespace galley::worker::texture
