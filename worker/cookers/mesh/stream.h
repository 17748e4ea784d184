// Stream: the elements of an accessor, tight (no stride, no padding inside matrices), in the format
// of the source. Little-endian, as glTF is.
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
size_t ShapeWidth(Shape shape);    // the number of components
size_t ShapeColumns(Shape shape);  // the columns of a matrix; 1 for other shapes

struct Format {
  Component component = Component::kFloat;
  Shape shape = Shape::kScalar;
  bool is_normalized = false;

  size_t width() const { return ShapeWidth(shape); }
  size_t element_bytes() const { return width() * ComponentBytes(component); }
  // The bytes of an element in a buffer, where the columns of a matrix begin at multiples of 4.
  size_t stored_bytes() const;
  bool operator==(const Format&) const = default;
};

struct Stream {
  Format format;
  size_t count = 0;
  std::vector<uint8_t> bytes;  // count * format.element_bytes()

  // The value that the format gives to a component: normalised integers become -1..1 or 0..1 (glTF
  // 2.0, 3.11). REQUIRES: element < count, component < width.
  float At(size_t element, size_t component) const;
  // The stored integer. REQUIRES: the format is not kFloat.
  int64_t IntegerAt(size_t element, size_t component) const;
};

// A stream of zeros.
Stream MakeStream(Format format, size_t count);
// Stores an integer, or a float. REQUIRES: the format can hold the value.
void PutInteger(Stream& stream, size_t element, size_t component, int64_t value);
void PutFloat(Stream& stream, size_t element, size_t component, float value);
// Stores the value of the format that is nearest to `value` as At returns it. REQUIRES: kFloat or
// normalised, and in range.
void PutNearest(Stream& stream, size_t element, size_t component, double value);

// Every component as a float, element by element.
std::vector<float> ToFloats(const Stream& stream);
Stream FromFloats(Shape shape, std::span<const float> values);
// The given elements, in the given order. REQUIRES: all are below the count.
Stream Gather(const Stream& stream, std::span<const uint32_t> elements);

}  // namespace galley::worker::mesh
