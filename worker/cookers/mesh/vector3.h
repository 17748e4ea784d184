// Vector3: three doubles and their geometry. The only libm function is the square root, which IEEE
// 754 defines to the last bit.
#pragma once

#include <cmath>

#include "worker/cookers/mesh/stream.h"

namespace galley::worker::mesh {

struct Vector3 {
  double x = 0;
  double y = 0;
  double z = 0;
};

inline Vector3 operator+(Vector3 a, Vector3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vector3 operator-(Vector3 a, Vector3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vector3 operator*(Vector3 a, double factor) {
  return {a.x * factor, a.y * factor, a.z * factor};
}
inline double Dot(Vector3 a, Vector3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vector3 Cross(Vector3 a, Vector3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
// The vector of length 1; zero when `a` is too short to have a direction.
inline Vector3 Normalized(Vector3 a) {
  const double length = std::sqrt(Dot(a, a));
  return length > 1e-150 ? a * (1 / length) : Vector3{};
}
inline bool IsZero(Vector3 a) { return a.x == 0 && a.y == 0 && a.z == 0; }
inline Vector3 VectorAt(const Stream& stream, size_t element) {
  return {stream.At(element, 0), stream.At(element, 1), stream.At(element, 2)};
}

}  // namespace galley::worker::mesh
