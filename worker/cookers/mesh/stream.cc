#include "worker/cookers/mesh/stream.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

namespace galley::worker::mesh {
namespace {

static_assert(std::endian::native == std::endian::little, "glTF's numbers are read in place");

struct ShapeInfo {
  std::string_view name;
  size_t width;
  size_t columns;
};
constexpr ShapeInfo kShapes[] = {{"SCALAR", 1, 1}, {"VEC2", 2, 1}, {"VEC3", 3, 1}, {"VEC4", 4, 1},
                                 {"MAT2", 4, 2},   {"MAT3", 9, 3}, {"MAT4", 16, 4}};

const ShapeInfo& InfoOf(Shape shape) { return kShapes[static_cast<size_t>(shape)]; }

template <typename Number>
Number Load(const Stream& stream, size_t index) {
  Number value;
  std::memcpy(&value, stream.bytes.data() + index * sizeof(value), sizeof(value));
  return value;
}

template <typename Number>
void Store(Stream& stream, size_t index, Number value) {
  std::memcpy(stream.bytes.data() + index * sizeof(value), &value, sizeof(value));
}

// The largest value of a normalised integer.
float NormalizationOf(Component component) {
  switch (component) {
    case Component::kInt8:
      return 127.0f;
    case Component::kUint8:
      return 255.0f;
    case Component::kInt16:
      return 32767.0f;
    case Component::kUint16:
      return 65535.0f;
    case Component::kUint32:
    case Component::kFloat:
      return 1.0f;
  }
  return 1.0f;
}

}  // namespace

std::optional<Component> ParseComponent(uint64_t value) {
  switch (value) {
    case 5120:
    case 5121:
    case 5122:
    case 5123:
    case 5125:
    case 5126:
      return static_cast<Component>(value);
    default:
      return std::nullopt;
  }
}

size_t ComponentBytes(Component component) {
  switch (component) {
    case Component::kInt8:
    case Component::kUint8:
      return 1;
    case Component::kInt16:
    case Component::kUint16:
      return 2;
    case Component::kUint32:
    case Component::kFloat:
      return 4;
  }
  return 4;
}

std::optional<Shape> ParseShape(std::string_view name) {
  const auto* found = std::find_if(std::begin(kShapes), std::end(kShapes),
                                   [&](const ShapeInfo& info) { return info.name == name; });
  if (found == std::end(kShapes)) return std::nullopt;
  return static_cast<Shape>(found - std::begin(kShapes));
}

std::string_view ShapeName(Shape shape) { return InfoOf(shape).name; }
size_t ShapeWidth(Shape shape) { return InfoOf(shape).width; }
size_t ShapeColumns(Shape shape) { return InfoOf(shape).columns; }

size_t Format::stored_bytes() const {
  const size_t columns = ShapeColumns(shape);
  if (columns == 1) return element_bytes();
  // The last column is followed by padding, too.
  const size_t column_bytes = element_bytes() / columns;
  return columns * ((column_bytes + 3) & ~size_t{3});
}

float Stream::At(size_t element, size_t component) const {
  if (format.component == Component::kFloat)
    return Load<float>(*this, element * format.width() + component);
  const auto value = static_cast<float>(IntegerAt(element, component));
  if (!format.is_normalized) return value;
  return std::max(value / NormalizationOf(format.component), -1.0f);
}

int64_t Stream::IntegerAt(size_t element, size_t component) const {
  const size_t index = element * format.width() + component;
  switch (format.component) {
    case Component::kInt8:
      return Load<int8_t>(*this, index);
    case Component::kUint8:
      return Load<uint8_t>(*this, index);
    case Component::kInt16:
      return Load<int16_t>(*this, index);
    case Component::kUint16:
      return Load<uint16_t>(*this, index);
    case Component::kUint32:
    case Component::kFloat:
      return Load<uint32_t>(*this, index);
  }
  return 0;
}

Stream MakeStream(Format format, size_t count) {
  return {.format = format,
          .count = count,
          .bytes = std::vector<uint8_t>(count * format.element_bytes())};
}

void PutInteger(Stream& stream, size_t element, size_t component, int64_t value) {
  const size_t index = element * stream.format.width() + component;
  switch (ComponentBytes(stream.format.component)) {
    case 1:
      return Store(stream, index, static_cast<uint8_t>(value));
    case 2:
      return Store(stream, index, static_cast<uint16_t>(value));
    default:
      return Store(stream, index, static_cast<uint32_t>(value));
  }
}

void PutFloat(Stream& stream, size_t element, size_t component, float value) {
  Store(stream, element * stream.format.width() + component, value);
}

void PutNearest(Stream& stream, size_t element, size_t component, double value) {
  if (stream.format.component == Component::kFloat)
    return PutFloat(stream, element, component, static_cast<float>(value));
  const double most = NormalizationOf(stream.format.component);
  PutInteger(stream, element, component, static_cast<int64_t>(std::floor(value * most + 0.5)));
}

std::vector<float> ToFloats(const Stream& stream) {
  const size_t width = stream.format.width();
  std::vector<float> values(stream.count * width);
  for (size_t i = 0; i < values.size(); ++i) values[i] = stream.At(i / width, i % width);
  return values;
}

Stream FromFloats(Shape shape, std::span<const float> values) {
  Stream stream = MakeStream({.component = Component::kFloat, .shape = shape},
                             values.size() / ShapeWidth(shape));
  std::memcpy(stream.bytes.data(), values.data(), stream.bytes.size());
  return stream;
}

Stream Gather(const Stream& stream, std::span<const uint32_t> elements) {
  Stream gathered = MakeStream(stream.format, elements.size());
  const size_t size = stream.format.element_bytes();
  for (size_t i = 0; i < elements.size(); ++i)
    std::memcpy(gathered.bytes.data() + i * size, stream.bytes.data() + elements[i] * size, size);
  return gathered;
}

}  // namespace galley::worker::mesh
