#include "worker/cookers/texture/normal_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fmt/format.h"

namespace galley::worker::texture {
namespace {

constexpr size_t kTexelsMax = 65'536;

// Bounds of certain normal maps, and of images that are as good as normal maps. The certain bounds
// are strict enough to keep out a blue sky. The loose bounds let in maps that were made smaller
// without a new length, were made steeper than a unit vector can be, or were blurred against a
// black ground.
//
// Source: fitted to the images of Debian's supertuxkart-data, extremetuxracer-data,
// freedroidrpg-data and neverball-data. `galley init` finds 100 of the 101 normal maps among them
// and takes no other image for a normal map. Held against 4,236 other images (warzone2100-data,
// trigger-rally-data, minetest-data, trackballs-data): the only normal map is certain, 10 pictures
// are loose, and a picture, a sign in lilac, would be certain, too: see IsOfOneHue.
struct Bounds {
  double length_off_max;  // |length - 1| of a vector that counts as a unit vector
  double share_min;       // of the texels
  double slope_max;       // |mean of x| and |mean of y|
  double up_min;          // mean of z
  double down_share_max;  // of the texels: those whose z points down
};
constexpr Bounds kCertain = {0.12, 0.9, 0.12, 0.7, 0.05};
constexpr Bounds kLoose = {0.3, 0.6, 0.3, 0.5, 0.12};
// In a normal map that is not flat, red and green differ. A sign in shades of a single hue may have
// unit vectors, too.
constexpr double kOneHueShareMin = 0.98;
constexpr double kOneHueSlopeMin = 0.06;
constexpr double kGreyShareMin = 0.99;
constexpr double kGreyDifferenceMax = 0.032;  // 8 of 255: JPEG makes such differences in grey
constexpr double kBlank = 2.0 / 255;          // for blue
constexpr double kBlack = 8.0 / 255;
constexpr double kWhite = 247.0 / 255;

struct Sums {
  size_t texels = 0;
  size_t counted = 0;  // texels that are neither black, white nor clear
  size_t grey = 0;     // among all texels
  size_t unit_certain = 0, unit_loose = 0;
  size_t down = 0;
  size_t without_blue = 0, full_blue = 0;
  size_t red_is_green = 0;
  size_t in_disc = 0;  // texels whose x and y may belong to a vector of length 1
  double r = 0, g = 0, b = 0;

  void Add(double red, double green, double blue, double alpha) {
    ++texels;
    const auto [least, most] = std::minmax({red, green, blue});
    grey += most - least <= kGreyDifferenceMax ? 1 : 0;
    if (most <= kBlack || least >= kWhite || alpha <= 0) return;
    ++counted;
    r += red, g += green, b += blue;
    const double x = red * 2 - 1, y = green * 2 - 1, z = blue * 2 - 1;
    const double off = std::abs(std::sqrt(x * x + y * y + z * z) - 1);
    unit_certain += off <= kCertain.length_off_max ? 1 : 0;
    unit_loose += off <= kLoose.length_off_max ? 1 : 0;
    down += z < -0.02 ? 1 : 0;
    without_blue += blue <= kBlank ? 1 : 0;
    full_blue += blue >= 1 - kBlank ? 1 : 0;
    red_is_green += std::abs(red - green) <= kBlank ? 1 : 0;
    in_disc += x * x + y * y <= 1.05 ? 1 : 0;
  }

  double Share(size_t count) const {
    return counted == 0 ? 0 : static_cast<double>(count) / static_cast<double>(counted);
  }
};

template <typename T>
Sums SumOf(const std::vector<T>& texels) {
  const double scale = std::is_same_v<T, float> ? 1 : 1 / static_cast<double>(static_cast<T>(-1));
  const size_t count = texels.size() / 4;
  // An odd step keeps samples out of columns where the width is a power of two.
  const size_t step = count <= kTexelsMax ? 1 : (count / kTexelsMax) | 1;
  Sums sums;
  for (size_t i = 0; i < count; i += step) {
    const T* texel = texels.data() + i * 4;
    sums.Add(texel[0] * scale, texel[1] * scale, texel[2] * scale, texel[3] * scale);
  }
  return sums;
}

bool IsOfOneHue(const Sums& sums, const PixelFacts& facts) {
  return sums.Share(sums.red_is_green) >= kOneHueShareMin &&
         std::abs(facts.mean[0] * 2 - 1) >= kOneHueSlopeMin;
}

bool IsWithin(const Sums& sums, const PixelFacts& facts, const Bounds& bounds, size_t unit) {
  return sums.Share(unit) >= bounds.share_min && sums.Share(sums.down) <= bounds.down_share_max &&
         std::abs(facts.mean[0] * 2 - 1) <= bounds.slope_max &&
         std::abs(facts.mean[1] * 2 - 1) <= bounds.slope_max &&
         facts.mean[2] * 2 - 1 >= bounds.up_min;
}

// In such an image x and y lie around 0, which is so in no yellow or white picture, and differ from
// texel to texel or are flat.
bool IsTwoChannel(const Sums& sums, const PixelFacts& facts) {
  constexpr double kAll = 0.98;
  return (sums.Share(sums.without_blue) >= kAll || sums.Share(sums.full_blue) >= kAll) &&
         sums.Share(sums.in_disc) >= kAll &&
         std::abs(facts.mean[0] * 2 - 1) <= kCertain.slope_max &&
         std::abs(facts.mean[1] * 2 - 1) <= kCertain.slope_max;
}

Pixels PixelsOf(const Sums& sums, const PixelFacts& facts) {
  if (sums.counted * 16 < sums.texels)
    return Pixels::kColor;  // nearly all texels are black, white or clear
  if (!IsOfOneHue(sums, facts)) {
    if (IsWithin(sums, facts, kCertain, sums.unit_certain)) return Pixels::kNormals;
    if (IsTwoChannel(sums, facts)) return Pixels::kTwoChannel;
    if (IsWithin(sums, facts, kLoose, sums.unit_loose)) return Pixels::kLooseNormals;
  }
  const double grey = static_cast<double>(sums.grey) / static_cast<double>(sums.texels);
  return grey >= kGreyShareMin ? Pixels::kGrey : Pixels::kColor;
}

}  // namespace

PixelFacts JudgePixels(const Image& image) {
  const Sums sums = std::visit([](const auto& texels) { return SumOf(texels); }, image.texels);
  PixelFacts facts;
  if (sums.texels == 0 || image.is_hdr()) return facts;
  if (sums.counted > 0) {
    const double count = static_cast<double>(sums.counted);
    facts.mean = {sums.r / count, sums.g / count, sums.b / count};
  }
  facts.share_of_unit = sums.Share(sums.unit_certain);
  facts.pixels = PixelsOf(sums, facts);
  if (sums.counted * 16 < sums.texels && sums.grey == sums.texels) facts.pixels = Pixels::kGrey;
  return facts;
}

std::string_view NameOf(Pixels pixels) {
  switch (pixels) {
    case Pixels::kColor:
      return "color";
    case Pixels::kGrey:
      return "grey";
    case Pixels::kNormals:
      return "normal";
    case Pixels::kLooseNormals:
      return "like-normal";
    case Pixels::kTwoChannel:
      return "two-channel-normal";
  }
  return "";
}

std::string NormalMapWarning(const PixelFacts& facts) {
  if (facts.pixels != Pixels::kColor && facts.pixels != Pixels::kGrey) return "";
  return fmt::format(
      "usage is \"normal\", and the pixels are no normal map: their mean is ({:.2f}, {:.2f}, "
      "{:.2f}), where that of a normal map is near (0.5, 0.5, 1), and {:.0f} % of them are about 1 "
      "long; set usage to \"color\"{}, or export the map from the height or the model",
      facts.mean[0], facts.mean[1], facts.mean[2], std::floor(100 * facts.share_of_unit),
      facts.pixels == Pixels::kGrey ? " or \"mask\"" : "");
}

}  // namespace galley::worker::texture
