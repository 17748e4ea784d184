// ReadLayers: the source and the files of the setting `layers` -> an image for each layer.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/cooker.h"
#include "worker/cookers/texture/image.h"
#include "worker/cookers/texture/texture_settings.h"

namespace galley::worker::texture {

// The images in order, the source first. All images have the same size, square for the faces of a
// cube, and all or none are HDR. The limits of decode.h hold for all layers together, and are
// checked before each layer is decoded. Warnings of Decode go to the context.
// Errors: as Decode; INVALID_ARGUMENT also for a path that is no file, and for layers that do not
// fit together, with both names and sizes.
absl::StatusOr<std::vector<Image>> ReadLayers(CookContext& context,
                                              const TextureSettings& settings);

}  // namespace galley::worker::texture
