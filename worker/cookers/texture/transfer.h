// Transfer: converts between stored numbers and linear light. No libm: only + - * / on doubles, and
// tables made by them, so that bytes do not depend on a machine's pow().
// Source: IEC 61966-2-1 (sRGB), as in the Khronos Data Format Specification 1.3, section 13.3.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace galley::worker::texture {

// The linear light of the sRGB value `encoded`, both 0..1.
double DecodeSrgb(double encoded);
// The linear light of each 8-bit sRGB value.
const std::array<float, 256>& SrgbToLinear8();
// value / 255 of each 8-bit value.
const std::array<float, 256>& UnormToFloat8();
// The linear light of each 16-bit sRGB value; made at the first call.
const std::vector<float>& SrgbToLinear16();

// The 8-bit sRGB value nearest to `linear` (clamped to 0..1): exact, by comparison with the decoded
// midpoints.
class SrgbEncoder {
 public:
  static const SrgbEncoder& Instance();
  uint8_t Encode(float linear) const {
    if (!(linear > 0.0f)) return 0;
    if (linear >= 1.0f) return 255;
    uint32_t value = first_[static_cast<uint32_t>(linear * static_cast<float>(kBuckets))];
    while (linear >= midpoints_[value]) ++value;
    return static_cast<uint8_t>(value);
  }

 private:
  static constexpr uint32_t kBuckets = 4096;
  SrgbEncoder();
  // midpoints_[v]: the linear light of v + 1/2; infinite for the last.
  std::array<float, 256> midpoints_{};
  // The value at the start of each bucket of linear light.
  std::array<uint8_t, kBuckets> first_{};
};

inline uint8_t EncodeUnorm8(float value) {
  if (!(value > 0.0f)) return 0;
  return value >= 1.0f ? uint8_t{255} : static_cast<uint8_t>(value * 255.0f + 0.5f);
}

// IEEE binary16, rounded to nearest even, clamped to +-65504; NaN gives 0.
uint16_t EncodeHalf(float value);
// Infinities give +-65504, NaN gives 0.
float DecodeHalf(uint16_t half);

}  // namespace galley::worker::texture
