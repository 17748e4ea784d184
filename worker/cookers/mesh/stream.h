// Stream: the elements of one accessor, tight (no stride, no padding inside matrices), in the
// format that they were stored in. Little-endian, as glTF is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace galley::worker::mesh {

// The values are glTF's componentType.
enum class Component : uint16_t {
  kInt8 = 5120,
  kUint8 = 5121,
  kInt16 = 5122,
  kUint16 = 5123,
  kUint32 = 5125,
  kFloat = 5126
};
std::optional<Component> ParseComponent(uint64_t value);
size_t ComponentBytes(Component component);

enum class Shape : uint8_t { kScalar, kVec2, kVec3, kVec4, kMat2, kMat3, kMat4 };
std::optional<Shape> ParseShape(std::string_view name);  // "VEC3"
std::string_view ShapeName(Shape shape);
size_t ShapeWidth(Shape shape);    // components
size_t ShapeColumns(Shape shape);  // of a matrix; 1 for the others

struct Format {
  Component component = Component::kFloat;
  Shape shape = Shape::kScalar;
  bool is_normalized = false;

  size_t width() const { return ShapeWidth(shape); }
  size_t element_bytes() const { return width() * ComponentBytes(component); }
  // As stored in a buffer, where the columns of a matrix begin at multiples of 4.
  size_t stored_bytes() const;
  bool operator==(const Format&) const = default;
};

struct Stream {
  Format format;
  size_t count = 0;
  std::vector<uint8_t> bytes;  // count * format.element_bytes()

  // The value that the format gives to a component: normalised integers become -1..1 or 0..1
  // (glTF 2.0, 3.11). REQUIRES: element < count, component < width.
  float At(size_t element, size_t component) const;
  // The integer as it is stored. REQUIRES: not kFloat.
  int64_t IntegerAt(size_t element, size_t component) const;
};

// Filled with zeros.
Stream MakeStream(Format format, size_t count);
// Stores an integer that fits, or a float. REQUIRES: in range.
void PutInteger(Stream& stream, size_t element, size_t component, int64_t value);
void PutFloat(Stream& stream, size_t element, size_t component, float value);
// Stores the value nearest to `value` that the format has, as At gives it. REQUIRES: kFloat or
// normalised, and in range.
void PutNearest(Stream& stream, size_t element, size_t component, double value);

// All components as floats, element by element.
std::vector<float> ToFloats(const Stream& stream);
Stream FromFloats(Shape shape, std::span<const float> values);
// The elements named, in that order. REQUIRES: all below count.
Stream Gather(const Stream& stream, std::span<const uint32_t> elements);

}  // namespace galley::worker::mesh
