// HasFlatColors: whether an image is made of areas of a few colours with hard edges.
//
// True for grids of data, in which each colour stands for a thing (the ground of a map, its
// trees), and some pixel art. Photographs, painted textures and antialiased shapes are not.
//
// Cost: the first hundred texels decide for most images; at most about a million texels are looked
// at. Pure.
#pragma once

#include "worker/cookers/texture/image.h"

namespace galley::worker::texture {

// False for images that are deeper than 8 bits, have alpha, or are smaller than 8 x 8.
bool HasFlatColors(const Image& image);

}  // namespace galley::worker::texture
