// JudgePixels: tells by its pixels alone what an image holds.
//
// A tangent-space normal map holds unit vectors (2v - 1) that point mostly up: their mean is near
// (0.5, 0.5, 1), their length near 1. A map with green down (Direct3D) is a normal map, too, and so
// is a map that is flat everywhere. Black, white and clear texels lie outside of the area that the
// map covers and do not count.
//
// Cost: fewer than 131,072 texels are looked at, spread evenly. Pure; the same image gives the same
// result.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "worker/cookers/texture/image.h"

namespace galley::worker::texture {

enum class Pixels {
  kColor,         // none of the following
  kGrey,          // red, green and blue are equal, up to the losses of a lossy format
  kNormals,       // a normal map, for certain
  kLooseNormals,  // as good as a normal map: blurred, scaled, or with a slope; may be a blue sky
  kTwoChannel,    // x and y of normals in red and green, with nothing (0 or 255) in blue
};

struct PixelFacts {
  Pixels pixels = Pixels::kColor;
  std::array<double, 3> mean = {0, 0, 0};  // red, green and blue of the texels that count, 0 to 1
  double share_of_unit = 0;  // of the texels that count: the share with a vector about 1 long
};

PixelFacts JudgePixels(const Image& image);

// "color", "grey", "normal", "like-normal", "two-channel-normal".
std::string_view NameOf(Pixels pixels);

// The warning for an image that is used as a normal map and is none; "": the image is a normal map.
std::string NormalMapWarning(const PixelFacts& facts);

}  // namespace galley::worker::texture
