#include "worker/cookers/texture/flat_colors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace galley::worker::texture {
namespace {

constexpr uint32_t kFlatSideMin = 8;
constexpr size_t kTexelsSeenMax = 1 << 20;
constexpr size_t kColorsMax = 64;
// Unequal neighbours that differ by less are shades of the same colour.
constexpr int kShade = 24;
// Source: fitted to the images of Debian's extremetuxracer-data and neverball-data. Within these
// limits are 66 of the 88 grids of indices there (ground, trees), and of the 370 other images
// without alpha a grid of heights and an icon. In supertuxkart-data 30 of 1,500 images are, which
// are flags and signs.
constexpr double kShadesMax = 0.01;
constexpr double kEqualMin = 0.7;

struct Neighbours {
  size_t all = 0, equal = 0, shades = 0;

  void Add(const uint8_t* a, const uint8_t* b) {
    int most = 0;
    for (int c = 0; c < 3; ++c) most = std::max(most, std::abs(int{a[c]} - int{b[c]}));
    ++all;
    equal += most == 0 ? 1 : 0;
    shades += most > 0 && most < kShade ? 1 : 0;
  }
};

class ColorSet {
 public:
  // False: there are too many colours.
  bool Add(const uint8_t* texel) {
    const uint32_t color = uint32_t{texel[0]} << 16 | uint32_t{texel[1]} << 8 | texel[2];
    const auto at = std::lower_bound(colors_.begin(), colors_.end(), color);
    if (at == colors_.end() || *at != color) colors_.insert(at, color);
    return colors_.size() <= kColorsMax;
  }
  size_t size() const { return colors_.size(); }

 private:
  std::vector<uint32_t> colors_;  // sorted
};

}  // namespace

bool HasFlatColors(const Image& image) {
  const auto* const texels = std::get_if<std::vector<uint8_t>>(&image.texels);
  if (texels == nullptr || image.has_alpha || std::min(image.width, image.height) < kFlatSideMin)
    return false;
  const size_t row_step = std::max<size_t>(size_t{image.width} * image.height / kTexelsSeenMax, 1);
  ColorSet colors;
  Neighbours neighbours;
  for (size_t y = 0; y < image.height; y += row_step) {
    const uint8_t* const row = texels->data() + y * image.width * 4;
    for (size_t x = 0; x < image.width; ++x) {
      const uint8_t* const texel = row + x * 4;
      if (x > 0) neighbours.Add(texel - 4, texel);
      const bool is_new = x == 0 || !std::equal(texel, texel + 3, texel - 4);
      if (is_new && !colors.Add(texel)) return false;
    }
  }
  const auto share = [&](size_t count) {
    return static_cast<double>(count) / static_cast<double>(neighbours.all);
  };
  return colors.size() >= 2 && share(neighbours.shades) <= kShadesMax &&
         share(neighbours.equal) >= kEqualMin;
}

}  // namespace galley::worker::texture
