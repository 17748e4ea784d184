#include "worker/cookers/mesh/primitive.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/accessor.h"
#include "worker/cookers/mesh/attribute_names.h"
#include "worker/cookers/mesh/attribute_repairs.h"

namespace galley::worker::mesh {
namespace {

// The most attributes of a primitive, and of each target, without those that tangents.h adds, so
// that the output can be read again.
constexpr size_t kAttributesMax = 256;
constexpr size_t kTargetsMax = 65'536;

bool IsUnsigned(Component component) {
  return component == Component::kUint8 || component == Component::kUint16;
}

// Whether an attribute of this semantic may have this format, by glTF or KHR_mesh_quantization.
bool IsAllowed(std::string_view semantic, int target, const Format& format) {
  const bool is_vec2 = format.shape == Shape::kVec2;
  const bool is_vec3 = format.shape == Shape::kVec3;
  const bool is_vec4 = format.shape == Shape::kVec4;
  const bool is_base = target == kBase;
  const bool is_float = format.component == Component::kFloat;
  const bool is_share = is_float || (format.is_normalized && IsUnsigned(format.component));
  const bool is_signed_share = is_float || (format.is_normalized && !IsUnsigned(format.component));
  if (format.component == Component::kUint32) return false;
  if (semantic == "POSITION") return is_vec3;
  if (semantic == "NORMAL") return is_vec3 && is_signed_share;
  if (semantic == "TANGENT") return (is_base ? is_vec4 : is_vec3) && is_signed_share;
  if (semantic.starts_with("TEXCOORD_")) return is_vec2;
  if (semantic.starts_with("COLOR_"))
    return (is_vec3 || is_vec4) && (is_share || (!is_base && is_signed_share));
  if (semantic.starts_with("JOINTS_"))
    return is_base && is_vec4 && IsUnsigned(format.component) && !format.is_normalized;
  if (semantic.starts_with("WEIGHTS_")) return is_base && is_vec4 && is_share;
  return true;
}

bool HasPositions(const Json& primitive) {
  const Json* attributes = Member(primitive, "attributes");
  return attributes != nullptr && Member(*attributes, "POSITION") != nullptr;
}

// The attributes in the order of targets, then of names. REQUIRES: HasPositions.
absl::StatusOr<std::vector<AttributeSource>> ListAttributes(const Json& json,
                                                            const std::string& pointer) {
  std::vector<AttributeSource> sources;
  const auto add = [&](const Json& attributes, int target, const std::string& place) {
    const size_t made_here = attributes.count("NORMAL") + attributes.count("TANGENT");
    if (attributes.size() - made_here > kAttributesMax) {
      return Flaw(place,
                  fmt::format("more than {} attributes beside NORMAL and TANGENT", kAttributesMax));
    }
    for (const auto& item : attributes.items()) {
      sources.push_back({.semantic = item.key(),
                         .target = target,
                         .accessor = item.value().get<size_t>(),
                         .pointer = place + "/" + item.key()});
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(add(json["attributes"], kBase, pointer + "/attributes"));
  const size_t target_count = ArraySize(json, "targets");
  if (target_count > kTargetsMax)
    return Flaw(pointer + "/targets", fmt::format("more than {} targets", kTargetsMax));
  for (size_t i = 0; i < target_count; ++i) {
    if (!json["targets"][i].is_object())
      return Flaw(fmt::format("{}/targets/{}", pointer, i), "expected an object");
    RETURN_IF_ERROR(
        add(json["targets"][i], static_cast<int>(i), fmt::format("{}/targets/{}", pointer, i)));
  }
  return sources;
}

absl::StatusOr<size_t> CheckAttributes(const Document& document,
                                       const std::vector<AttributeSource>& sources) {
  size_t count = 0;
  uint64_t stored = 0;  // the stored elements of the attribute that has most
  for (const AttributeSource& source : sources) {
    const auto head = ReadAccessorHead(document, source.accessor);
    if (!head.ok()) return Annotate(head.status(), source.pointer);
    if (!IsAllowed(source.semantic, source.target, head->format)) {
      return Flaw(source.pointer, fmt::format("{}{} of component type {} is no format for it",
                                              head->format.is_normalized ? "normalized " : "",
                                              ShapeName(head->format.shape),
                                              static_cast<int>(head->format.component)));
    }
    if (count == 0) count = head->count;
    if (head->count != count) {
      return Flaw(source.pointer, fmt::format("{} elements, and {} in the attributes before it",
                                              head->count, count));
    }
    const absl::Status bytes = CheckElements(document, source.accessor, *head);
    if (!bytes.ok()) return Annotate(bytes, source.pointer);
    stored = std::max(stored, StoredElements(document, source.accessor, *head));
  }
  if (const absl::Status status = CheckStored(count, stored); !status.ok())
    return Annotate(status, sources.front().pointer);
  return count;
}

// The index that draws no vertex but ends a strip, which glTF does not use.
uint32_t RestartOf(Component component) {
  return component == Component::kUint8    ? UINT8_MAX
         : component == Component::kUint16 ? UINT16_MAX
                                           : UINT32_MAX;
}

absl::StatusOr<std::vector<uint32_t>> ReadIndices(Document& document, const Json& json,
                                                  size_t vertex_count, const std::string& pointer) {
  std::vector<uint32_t> indices;
  const Json* accessor = Member(json, "indices");
  if (accessor == nullptr) {
    RETURN_IF_ERROR(document.Take(vertex_count * sizeof(uint32_t), pointer));
    indices.resize(vertex_count);
    std::iota(indices.begin(), indices.end(), 0u);
    return indices;
  }
  const std::string place = pointer + "/indices";
  const auto stream = ReadAccessor(document, accessor->get<size_t>());
  if (!stream.ok()) return Annotate(stream.status(), place);
  const Component component = stream->format.component;
  if (stream->format.shape != Shape::kScalar || stream->format.is_normalized ||
      (component != Component::kUint8 && component != Component::kUint16 &&
       component != Component::kUint32)) {
    return Flaw(place, "expected a SCALAR of unsigned integers");
  }
  RETURN_IF_ERROR(document.Take(stream->count * sizeof(uint32_t), place));
  indices.resize(stream->count);
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<uint32_t>(stream->IntegerAt(i, 0));
    if (indices[i] >= vertex_count) {
      return Flaw(place, fmt::format("index {} is {}, and there are {} vertices", i, indices[i],
                                     vertex_count));
    }
  }
  if (std::ranges::find(indices, RestartOf(component)) != indices.end()) {
    document.warnings.Add(
        "{}: the greatest number that an index can be is one of them; it is taken for a vertex "
        "(ACCESSOR_INDEX_PRIMITIVE_RESTART)",
        place);
  }
  return indices;
}

// Winding as the specification has it (glTF 2.0, 3.7.2.1).
std::vector<uint32_t> ToTriangleList(Mode mode, const std::vector<uint32_t>& indices) {
  if (mode == Mode::kTriangles)
    return {indices.begin(), indices.end() - static_cast<std::ptrdiff_t>(indices.size() % 3)};
  std::vector<uint32_t> list;
  for (size_t i = 0; i + 2 < indices.size(); ++i) {
    if (mode == Mode::kTriangleStrip) {
      list.insert(list.end(), {indices[i], indices[i + 1 + i % 2], indices[i + 2 - i % 2]});
    } else {
      list.insert(list.end(), {indices[i + 1], indices[i + 2], indices[0]});
    }
  }
  return list;
}

std::vector<uint32_t> WithoutDegenerate(const std::vector<uint32_t>& list) {
  std::vector<uint32_t> kept;
  kept.reserve(list.size());
  for (size_t i = 0; i < list.size(); i += 3) {
    const uint32_t a = list[i];
    const uint32_t b = list[i + 1];
    const uint32_t c = list[i + 2];
    if (a != b && b != c && c != a) kept.insert(kept.end(), {a, b, c});
  }
  return kept.empty() ? list : kept;
}

// The vertices in use, rising. Renumbers `indices` to positions in that list.
std::vector<uint32_t> TakeUsed(std::vector<uint32_t>& indices, size_t vertex_count) {
  std::vector<uint32_t> place(vertex_count, 0);
  for (const uint32_t index : indices) place[index] = 1;
  std::vector<uint32_t> used;
  for (uint32_t vertex = 0; vertex < vertex_count; ++vertex) {
    if (place[vertex] == 0) continue;
    place[vertex] = static_cast<uint32_t>(used.size());
    used.push_back(vertex);
  }
  for (uint32_t& index : indices) index = place[index];
  return used;
}

absl::StatusOr<Mode> ReadMode(const Json& json, const std::string& pointer) {
  ASSIGN_OR_RETURN(const uint64_t mode, NumberOr(json, "mode", 4, 6, pointer));
  return static_cast<Mode>(mode);
}

// Gives a target without deltas deltas of 0, so that the weights keep their targets.
absl::Status FillEmptyTargets(Document& document, size_t target_count, Primitive& primitive) {
  std::vector<bool> has_deltas(target_count, false);
  for (const Attribute& attribute : primitive.attributes) {
    if (attribute.target != kBase) has_deltas[static_cast<size_t>(attribute.target)] = true;
  }
  for (size_t i = 0; i < target_count; ++i) {
    if (has_deltas[i]) continue;
    const std::string place = fmt::format("{}/targets/{}", primitive.pointer, i);
    Stream zeros = MakeStream({.component = Component::kFloat, .shape = Shape::kVec3}, 0);
    RETURN_IF_ERROR(document.Take(primitive.vertex_count * zeros.format.element_bytes(), place));
    zeros = MakeStream(zeros.format, primitive.vertex_count);
    primitive.attributes.push_back(
        {.semantic = "POSITION", .target = static_cast<int>(i), .stream = std::move(zeros)});
    document.warnings.AddRepair("{}: the morph target moves nothing (EMPTY_ENTITY)", place);
  }
  return absl::OkStatus();
}

absl::StatusOr<Primitive> ReadPrimitive(Document& document, const Json& json,
                                        const std::string& pointer) {
  Primitive primitive;
  primitive.pointer = pointer;
  ASSIGN_OR_RETURN(primitive.mode, ReadMode(json, pointer));
  ASSIGN_OR_RETURN(std::vector<AttributeSource> sources, ListAttributes(json, pointer));
  RepairAttributeNames(sources, pointer, document.warnings);
  ASSIGN_OR_RETURN(const size_t vertex_count, CheckAttributes(document, sources));
  ASSIGN_OR_RETURN(std::vector<uint32_t> indices,
                   ReadIndices(document, json, vertex_count, pointer));
  const bool is_filled = primitive.mode >= Mode::kTriangles;
  if (is_filled && indices.size() < 3) {
    return Flaw(pointer, fmt::format("{} corners; a triangle has three", indices.size()));
  }
  if (primitive.mode == Mode::kTriangles && indices.size() % 3 != 0) {
    document.warnings.Add("{}: {} corners are no whole number of triangles; the last are left out",
                          pointer, indices.size());
  }
  if (is_filled) {
    RETURN_IF_ERROR(document.Take(indices.size() * 3 * sizeof(uint32_t), pointer));
    indices = WithoutDegenerate(ToTriangleList(primitive.mode, indices));
    primitive.mode = Mode::kTriangles;
  }
  RETURN_IF_ERROR(document.Take(vertex_count * 2 * sizeof(uint32_t), pointer));
  const std::vector<uint32_t> used = TakeUsed(indices, vertex_count);
  primitive.vertex_count = used.size();
  if (is_filled || Member(json, "indices") != nullptr) primitive.indices = std::move(indices);
  for (const AttributeSource& source : sources) {
    auto stream = ReadElements(document, source.accessor, used);
    if (!stream.ok()) return Annotate(stream.status(), source.pointer);
    primitive.attributes.push_back(
        {.semantic = source.semantic, .target = source.target, .stream = *std::move(stream)});
  }
  RETURN_IF_ERROR(FillEmptyTargets(document, ArraySize(json, "targets"), primitive));
  RepairAttributeData(primitive, document.warnings);
  return primitive;
}

}  // namespace

const Attribute* Primitive::Find(std::string_view semantic, int target) const {
  const auto found = std::ranges::find_if(attributes, [&](const Attribute& each) {
    return each.target == target && each.semantic == semantic;
  });
  return found == attributes.end() ? nullptr : &*found;
}

Attribute* Primitive::Find(std::string_view semantic, int target) {
  return const_cast<Attribute*>(std::as_const(*this).Find(semantic, target));
}

void KeepVertices(Primitive& primitive, std::span<const uint32_t> vertices) {
  for (Attribute& attribute : primitive.attributes)
    attribute.stream = Gather(attribute.stream, vertices);
  primitive.vertex_count = vertices.size();
}

absl::StatusOr<MeshData> ReadMesh(Document& document, size_t index) {
  const std::string pointer = fmt::format("/meshes/{}", index);
  Json& json = document.json["meshes"][index];
  MeshData mesh;
  Json kept = Json::array();
  for (size_t i = 0; i < ArraySize(json, "primitives"); ++i) {
    Json& primitive = json["primitives"][i];
    const std::string place = fmt::format("{}/primitives/{}", pointer, i);
    if (!HasPositions(primitive)) {
      document.warnings.Add(
          "{}: the primitive has no POSITION; it is left out (MESH_PRIMITIVE_NO_POSITION)", place);
      continue;
    }
    ASSIGN_OR_RETURN(Primitive read, ReadPrimitive(document, primitive, place));
    const size_t target_count = ArraySize(primitive, "targets");
    if (!kept.empty() && target_count != mesh.target_count) {
      return Flaw(place, fmt::format("{} morph targets, and {} in the primitives before it",
                                     target_count, mesh.target_count));
    }
    mesh.target_count = target_count;
    mesh.primitives.push_back(std::move(read));
    kept.push_back(std::move(primitive));
  }
  json["primitives"] = std::move(kept);
  return mesh;
}

}  // namespace galley::worker::mesh
