#include "worker/cookers/mesh/accessor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::mesh {
namespace {

constexpr uint64_t kBytesMax = uint64_t{1} << 40;

std::string PointerOf(size_t index) { return fmt::format("/accessors/{}", index); }

absl::StatusOr<Component> ReadComponent(const Json& json, const std::string& pointer) {
  ASSIGN_OR_RETURN(const uint64_t value, NumberOr(json, "componentType", 0, UINT32_MAX, pointer));
  if (const std::optional<Component> component = ParseComponent(value)) return *component;
  return Flaw(pointer + "/componentType",
              fmt::format("expected 5120 to 5123, 5125 or 5126, not {}", value));
}

// The place of an accessor's elements in a buffer view.
struct Layout {
  std::string_view bytes;  // from the first element on
  size_t stride = 0;
};

absl::StatusOr<Layout> FindLayout(const Document& document, const Json& json, const Format& format,
                                  size_t count, const std::string& pointer) {
  const BufferView& view = document.views[json["bufferView"].get<size_t>()];
  if (!view.has_bytes) {
    return Flaw(pointer + "/bufferView",
                "its buffer has no uri and is not the GLB's own: there are no bytes");
  }
  ASSIGN_OR_RETURN(const uint64_t offset, NumberOr(json, "byteOffset", 0, kBytesMax, pointer));
  const size_t stride = view.stride == 0 ? format.stored_bytes() : view.stride;
  if (stride < format.stored_bytes()) {
    return Flaw(pointer, fmt::format("an element has {} bytes, and the buffer view a stride of {}",
                                     format.stored_bytes(), stride));
  }
  if (count == 0) return Layout{.bytes = {}, .stride = stride};
  // The last element need not be padded to the stride.
  const uint64_t end = offset + uint64_t{stride} * (count - 1) + format.stored_bytes();
  if (end > view.bytes.size()) {
    return Flaw(pointer, fmt::format("its {} elements end at byte {} of a buffer view that has {}",
                                     count, end, view.bytes.size()));
  }
  return Layout{.bytes = view.bytes.substr(offset), .stride = stride};
}

// Copies an element without the padding of matrix columns.
void CopyElement(const Layout& layout, size_t source, const Format& format, uint8_t* target) {
  const char* bytes = layout.bytes.data() + source * layout.stride;
  const size_t columns = ShapeColumns(format.shape);
  const size_t column_bytes = format.element_bytes() / columns;
  const size_t column_stride = format.stored_bytes() / columns;
  for (size_t i = 0; i < columns; ++i)
    std::memcpy(target + i * column_bytes, bytes + i * column_stride, column_bytes);
}

struct Sparse {
  size_t count = 0;
  Format index_format;
  Layout indices, values;
};

// The places of a sparse part's indices and values. `count`: the elements of the whole accessor.
// INVALID_ARGUMENT: bytes of the sparse part are missing.
absl::StatusOr<Sparse> FindSparse(const Document& document, const Json& json, const Format& format,
                                  size_t count, const std::string& pointer) {
  Sparse sparse;
  ASSIGN_OR_RETURN(sparse.count, NumberOr(json, "count", 0, count, pointer));
  const std::string place = pointer + "/indices";
  const Json* indices = Member(json, "indices");
  if (indices == nullptr || Member(*indices, "bufferView") == nullptr)
    return Flaw(place, "expected a bufferView");
  ASSIGN_OR_RETURN(const Component component, ReadComponent(*indices, place));
  if (component != Component::kUint8 && component != Component::kUint16 &&
      component != Component::kUint32) {
    return Flaw(place + "/componentType", "expected 5121, 5123 or 5125");
  }
  sparse.index_format = {.component = component, .shape = Shape::kScalar};
  ASSIGN_OR_RETURN(sparse.indices,
                   FindLayout(document, *indices, sparse.index_format, sparse.count, place));
  const Json* values = Member(json, "values");
  if (values == nullptr || Member(*values, "bufferView") == nullptr)
    return Flaw(pointer + "/values", "expected a bufferView");
  ASSIGN_OR_RETURN(sparse.values,
                   FindLayout(document, *values, format, sparse.count, pointer + "/values"));
  return sparse;
}

// The indices of the sparse values. INVALID_ARGUMENT: they do not rise strictly.
absl::StatusOr<std::vector<uint32_t>> ReadSparseIndices(const Sparse& sparse, size_t count,
                                                        const std::string& pointer) {
  Stream element = MakeStream(sparse.index_format, 1);
  std::vector<uint32_t> indices(sparse.count);
  for (size_t i = 0; i < sparse.count; ++i) {
    CopyElement(sparse.indices, i, sparse.index_format, element.bytes.data());
    indices[i] = static_cast<uint32_t>(element.IntegerAt(0, 0));
    if (indices[i] >= count || (i > 0 && indices[i] <= indices[i - 1])) {
      return Flaw(
          pointer + "/indices",
          fmt::format("index {} is {}; expected rising indices below {}", i, indices[i], count));
    }
  }
  return indices;
}

absl::Status PutSparse(Document& document, const Json& json, size_t count,
                       std::span<const uint32_t> elements, Stream& stream,
                       const std::string& pointer) {
  ASSIGN_OR_RETURN(const Sparse sparse, FindSparse(document, json, stream.format, count, pointer));
  RETURN_IF_ERROR(document.Take(sparse.count * sizeof(uint32_t), pointer));
  ASSIGN_OR_RETURN(const std::vector<uint32_t> indices, ReadSparseIndices(sparse, count, pointer));
  // Both lists rise, so that a single walk finds every sparse value that is wanted.
  size_t at = 0;
  for (size_t i = 0; i < elements.size() && at < indices.size(); ++i) {
    while (at < indices.size() && indices[at] < elements[i]) ++at;
    if (at == indices.size() || indices[at] != elements[i]) continue;
    CopyElement(sparse.values, at, stream.format,
                stream.bytes.data() + i * stream.format.element_bytes());
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(const Stream& stream, std::span<const uint32_t> elements,
                         const std::string& pointer) {
  if (stream.format.component != Component::kFloat) return absl::OkStatus();
  const size_t width = stream.format.width();
  for (size_t i = 0; i < stream.count * width; ++i) {
    if (!std::isfinite(stream.At(i / width, i % width))) {
      return Flaw(pointer, fmt::format("element {} is not finite ({})", elements[i / width],
                                       stream.At(i / width, i % width)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AccessorHead> ReadAccessorHead(const Document& document, size_t index) {
  const std::string pointer = PointerOf(index);
  const Json& json = document.json["accessors"][index];
  AccessorHead head;
  ASSIGN_OR_RETURN(head.format.component, ReadComponent(json, pointer));
  ASSIGN_OR_RETURN(const std::string type, TextOr(json, "type", "", pointer));
  const std::optional<Shape> shape = ParseShape(type);
  if (!shape) return Flaw(pointer + "/type", "expected SCALAR, VEC2 ... MAT4, not " + type);
  head.format.shape = *shape;
  ASSIGN_OR_RETURN(head.format.is_normalized, BoolOr(json, "normalized", false, pointer));
  if (head.format.is_normalized &&
      (head.format.component == Component::kFloat || head.format.component == Component::kUint32)) {
    return Flaw(pointer + "/normalized", "only integers of 8 and 16 bits can be normalized");
  }
  ASSIGN_OR_RETURN(head.count, NumberOr(json, "count", 0, kElementsMax, pointer));
  if (head.count == 0) return Flaw(pointer + "/count", "expected at least 1");
  return head;
}

absl::Status CheckElements(const Document& document, size_t index, const AccessorHead& head) {
  const std::string pointer = PointerOf(index);
  const Json& json = document.json["accessors"][index];
  if (Member(json, "bufferView") != nullptr)
    RETURN_IF_ERROR(FindLayout(document, json, head.format, head.count, pointer).status());
  const Json* sparse = Member(json, "sparse");
  if (sparse == nullptr) return absl::OkStatus();
  return FindSparse(document, *sparse, head.format, head.count, pointer + "/sparse").status();
}

uint64_t StoredElements(const Document& document, size_t index, const AccessorHead& head) {
  const Json& json = document.json["accessors"][index];
  if (Member(json, "bufferView") != nullptr) return head.count;
  const Json* sparse = Member(json, "sparse");
  if (sparse == nullptr) return 0;
  return NumberOr(*sparse, "count", 0, head.count, PointerOf(index)).value_or(0);
}

absl::Status CheckStored(uint64_t count, uint64_t stored) {
  constexpr uint64_t kZerosMax = uint64_t{1} << 16;
  constexpr uint64_t kZerosForEach = 1024;
  if (count <= kZerosMax + stored * kZerosForEach) return absl::OkStatus();
  return VerdictError(
      "it says that it has {} elements, and the file has the bytes of {}; all others would be "
      "zeros",
      count, stored);
}

absl::StatusOr<Stream> ReadElements(Document& document, size_t index,
                                    std::span<const uint32_t> elements) {
  const std::string pointer = PointerOf(index);
  ASSIGN_OR_RETURN(const AccessorHead head, ReadAccessorHead(document, index));
  RETURN_IF_ERROR(document.Take(elements.size() * head.format.element_bytes(), pointer));
  Stream stream = MakeStream(head.format, elements.size());
  const Json& json = document.json["accessors"][index];
  if (Member(json, "bufferView") != nullptr) {
    ASSIGN_OR_RETURN(const Layout layout,
                     FindLayout(document, json, head.format, head.count, pointer));
    for (size_t i = 0; i < elements.size(); ++i) {
      CopyElement(layout, elements[i], head.format,
                  stream.bytes.data() + i * head.format.element_bytes());
    }
  }
  if (const Json* sparse = Member(json, "sparse"); sparse != nullptr) {
    RETURN_IF_ERROR(
        PutSparse(document, *sparse, head.count, elements, stream, pointer + "/sparse"));
  }
  RETURN_IF_ERROR(CheckFinite(stream, elements, pointer));
  return stream;
}

absl::StatusOr<Stream> ReadAccessor(Document& document, size_t index) {
  ASSIGN_OR_RETURN(const AccessorHead head, ReadAccessorHead(document, index));
  RETURN_IF_ERROR(CheckElements(document, index, head));
  RETURN_IF_ERROR(
      Annotate(CheckStored(head.count, StoredElements(document, index, head)), PointerOf(index)));
  RETURN_IF_ERROR(document.Take(head.count * sizeof(uint32_t), PointerOf(index)));
  std::vector<uint32_t> all(head.count);
  std::iota(all.begin(), all.end(), 0u);
  return ReadElements(document, index, all);
}

}  // namespace galley::worker::mesh
