#include "worker/cookers/texture/transfer.h"

#include <bit>
#include <cstddef>
#include <limits>

namespace galley::worker::texture {
namespace {

// z with z^5 = y, for 0 < y <= 1, by Newton's method from 1: from above the steps only descend.
double FifthRoot(double y) {
  double z = 1.0;
  for (int i = 0; i < 100; ++i) {
    const double z2 = z * z;
    const double next = z - (z2 * z2 * z - y) / (5.0 * z2 * z2);
    if (next >= z) break;
    z = next;
  }
  return z;
}

}  // namespace

double DecodeSrgb(double encoded) {
  if (encoded <= 0.04045) return encoded / 12.92;
  const double x = (encoded + 0.055) / 1.055;
  return x * x * FifthRoot(x * x);  // x^2.4
}

const std::array<float, 256>& SrgbToLinear8() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values{};
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(DecodeSrgb(static_cast<double>(i) / 255.0));
    return values;
  }();
  return table;
}

const std::array<float, 256>& UnormToFloat8() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values{};
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(static_cast<double>(i) / 255.0);
    return values;
  }();
  return table;
}

const std::vector<float>& SrgbToLinear16() {
  static const std::vector<float> table = [] {
    std::vector<float> values(65536);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(DecodeSrgb(static_cast<double>(i) / 65535.0));
    return values;
  }();
  return table;
}

const SrgbEncoder& SrgbEncoder::Instance() {
  static const SrgbEncoder encoder;
  return encoder;
}

SrgbEncoder::SrgbEncoder() {
  for (size_t i = 0; i < 255; ++i)
    midpoints_[i] = static_cast<float>(DecodeSrgb((static_cast<double>(i) + 0.5) / 255.0));
  midpoints_[255] = std::numeric_limits<float>::infinity();
  uint32_t value = 0;
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    const float start = static_cast<float>(bucket) / static_cast<float>(kBuckets);
    while (start >= midpoints_[value]) ++value;
    first_[bucket] = static_cast<uint8_t>(value);
  }
}

uint16_t EncodeHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0;
  if (magnitude >= 0x477fe000u) return static_cast<uint16_t>(sign | 0x7bffu);
  // Below half of the smallest half.
  if (magnitude < 0x33000000u) return static_cast<uint16_t>(sign);
  const uint32_t exponent = magnitude >> 23;
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t shift = exponent < 113 ? 126 - exponent : 13;  // below 2^-14: subnormal
  const uint32_t half = exponent < 113
                            ? mantissa >> shift
                            : ((exponent - 112) << 10) + ((mantissa & 0x7fffffu) >> shift);
  const uint32_t rest = mantissa & ((1u << shift) - 1);
  const uint32_t middle = 1u << (shift - 1);
  const uint32_t up = rest > middle || (rest == middle && (half & 1u) != 0) ? 1 : 0;
  return static_cast<uint16_t>(sign | (half + up));
}

float DecodeHalf(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 31u;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 31) return mantissa != 0 ? 0.0f : (sign != 0 ? -65504.0f : 65504.0f);
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

}  // namespace galley::worker::texture
