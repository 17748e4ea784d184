// Image: a decoded source, always four channels (red, green, blue, alpha), rows from the top, no
// padding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

namespace galley::worker::texture {

struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  // Integers span 0..1; floats are linear light without an upper bound (HDR sources). There are
  // width * height * 4 entries.
  std::variant<std::vector<uint8_t>, std::vector<uint16_t>, std::vector<float>> texels;
  // Whether some texel is not opaque.
  bool has_alpha = false;

  bool is_hdr() const { return std::holds_alternative<std::vector<float>>(texels); }
};

// A level of a mip chain, as it is encoded or stored: RGBA with 8-bit integers or little-endian
// halves.
struct Level {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> texels;
};

// Layout: what the layers of a texture form together.
enum class Layout { kArray, kCube, kCubeArray };
inline constexpr uint32_t kCubeFaces = 6;  // +X -X +Y -Y +Z -Z

enum class Usage { kColor, kNormal, kMask };
enum class ColorSpace { kSrgb, kLinear };
enum class Quality { kFast, kMedium, kThorough };

}  // namespace galley::worker::texture
