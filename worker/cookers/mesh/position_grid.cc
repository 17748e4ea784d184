#include "worker/cookers/mesh/position_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace galley::worker::mesh {
namespace {

constexpr double kQuantumMax = 65535;
constexpr double kDeltaMax = 32767;
constexpr int kExponentMin = -100;  // far from the least float
// 65535 steps, and an origin of 2^24, are far from the greatest float
constexpr int kExponentMax = 100;
constexpr int kMantissaBits = 24;

struct Range {
  std::array<double, 3> min = {};
  std::array<double, 3> max = {};
  double delta_max = 0;
  bool is_empty = true;
};

double Rounded(double value) { return std::floor(value + 0.5); }

void Extend(Range& range, const Stream& positions) {
  for (size_t i = 0; i < positions.count; ++i) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const double value = positions.At(i, axis);
      range.min[axis] = range.is_empty ? value : std::min(range.min[axis], value);
      range.max[axis] = range.is_empty ? value : std::max(range.max[axis], value);
    }
    range.is_empty = false;
  }
}

Range RangeOf(const std::vector<const Primitive*>& primitives) {
  Range range;
  for (const Primitive* primitive : primitives) {
    for (const Attribute& attribute : primitive->attributes) {
      if (attribute.semantic != "POSITION") continue;
      if (attribute.target == kBase) {
        Extend(range, attribute.stream);
        continue;
      }
      for (size_t i = 0; i < attribute.stream.count * 3; ++i) {
        range.delta_max =
            std::max(range.delta_max, std::abs(double{attribute.stream.At(i / 3, i % 3)}));
      }
    }
  }
  return range;
}

bool Fits(const Range& range, double step) {
  for (size_t axis = 0; axis < 3; ++axis) {
    const double origin = std::floor(range.min[axis] / step);
    if (Rounded(range.max[axis] / step) - origin > kQuantumMax) return false;
  }
  return Rounded(range.delta_max / step) <= kDeltaMax;
}

// The exponent of the finest useful step: below it the source's own floats have no digits. frexp
// and ldexp are exact.
int FinestExponent(const Range& range) {
  double magnitude = range.delta_max;
  for (size_t axis = 0; axis < 3; ++axis) {
    magnitude = std::max({magnitude, std::abs(range.min[axis]), std::abs(range.max[axis])});
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  return exponent - kMantissaBits;
}

bool IsPoint(const Range& range) { return range.min == range.max && range.delta_max == 0; }

}  // namespace

std::optional<PositionGrid> FitGrid(const std::vector<const Primitive*>& primitives) {
  const Range range = RangeOf(primitives);
  PositionGrid grid;
  if (IsPoint(range) && range.min == std::array<double, 3>{0, 0, 0}) return grid;
  int exponent = FinestExponent(range);
  while (!Fits(range, std::ldexp(1.0, exponent))) ++exponent;
  if (exponent < kExponentMin || exponent > kExponentMax) return std::nullopt;
  grid.step = std::ldexp(1.0, exponent);
  for (size_t axis = 0; axis < 3; ++axis)
    grid.origin[axis] = std::floor(range.min[axis] / grid.step);
  return grid;
}

bool IsPoint(const std::vector<const Primitive*>& primitives) {
  return IsPoint(RangeOf(primitives));
}

void QuantizePositions(Primitive& primitive, const PositionGrid& grid) {
  for (Attribute& attribute : primitive.attributes) {
    if (attribute.semantic != "POSITION") continue;
    const bool is_base = attribute.target == kBase;
    Stream quantized = MakeStream(
        {.component = is_base ? Component::kUint16 : Component::kInt16, .shape = Shape::kVec3},
        attribute.stream.count);
    for (size_t i = 0; i < attribute.stream.count; ++i) {
      for (size_t axis = 0; axis < 3; ++axis) {
        const double value = Rounded(attribute.stream.At(i, axis) / grid.step);
        PutInteger(quantized, i, axis,
                   static_cast<int64_t>(value - (is_base ? grid.origin[axis] : 0)));
      }
    }
    attribute.stream = std::move(quantized);
  }
}

}  // namespace galley::worker::mesh
