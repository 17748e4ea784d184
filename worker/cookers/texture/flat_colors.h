// HasFlatColors: whether an image is made of areas of a few colours with hard edges.
//
// Grids of data look so, in which each colour stands for a thing (the ground of a map, its trees),
// and so does some pixel art. Photographs, painted textures and antialiased shapes do not.
//
// Cost: most images are told apart by their first hundred texels; at most about a million texels
// are looked at. Pure.
#pragma once

#include "worker/cookers/texture/image.h"

namespace galley::worker::texture {

// False for what is deeper than 8 bits, has alpha, or is smaller than 8 x 8.
bool HasFlatColors(const Image& image);

}  // namespace galley::worker::texture
