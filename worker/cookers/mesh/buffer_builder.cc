#include "worker/cookers/mesh/buffer_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/digest.h"
#include "worker/cookers/mesh/glb.h"

namespace galley::worker::mesh {
namespace {

constexpr size_t kStrideMax = 252;
constexpr size_t kShortVerticesMax = 65'535;  // index 65,535 restarts a primitive
constexpr int kArrayBuffer = 34962;
constexpr int kElementArrayBuffer = 34963;

// Writes an element in the form of a buffer: the columns of matrices begin at multiples of 4.
void PutElement(const Stream& stream, size_t element, char* target) {
  const Format& format = stream.format;
  const size_t columns = ShapeColumns(format.shape);
  const size_t column_bytes = format.element_bytes() / columns;
  const size_t column_stride = format.stored_bytes() / columns;
  const uint8_t* source = stream.bytes.data() + element * format.element_bytes();
  for (size_t i = 0; i < columns; ++i)
    std::memcpy(target + i * column_stride, source + i * column_bytes, column_bytes);
}

// The bounds of the values as they are stored: integers stay integers. A double holds integers and
// floats exactly.
Json BoundsOf(const Stream& stream) {
  const bool is_float = stream.format.component == Component::kFloat;
  const auto value = [&](size_t i, size_t c) {
    return is_float ? double{stream.At(i, c)} : static_cast<double>(stream.IntegerAt(i, c));
  };
  const auto number = [&](double bound) {
    return is_float ? Json(bound) : Json(static_cast<int64_t>(bound));
  };
  Json min = Json::array();
  Json max = Json::array();
  for (size_t c = 0; c < stream.format.width(); ++c) {
    double least = value(0, c);
    double most = least;
    for (size_t i = 1; i < stream.count; ++i) {
      least = std::min(least, value(i, c));
      most = std::max(most, value(i, c));
    }
    min.push_back(number(least));
    max.push_back(number(most));
  }
  return {{"min", std::move(min)}, {"max", std::move(max)}};
}

}  // namespace

size_t BufferBuilder::Place(const SectionKey& key, const std::string& bytes) {
  Section& section = sections_[key];
  const auto [known, is_new] =
      section.offsets.try_emplace(Digest::Of(bytes).ToString(), section.bytes.size());
  if (!is_new) return known->second;
  section.bytes += bytes;
  // Strides are multiples of 4 already: only other sections are padded.
  section.bytes.append(Padded(section.bytes.size()) - section.bytes.size(), '\0');
  return known->second;
}

size_t BufferBuilder::AddAccessor(Accessor accessor) {
  const auto [known, is_new] = known_.try_emplace(
      {accessor.section, accessor.offset, static_cast<int>(accessor.format.component),
       accessor.format.shape, accessor.format.is_normalized, accessor.count,
       !accessor.bounds.is_null()},
      accessors_.size());
  if (is_new) accessors_.push_back(std::move(accessor));
  return known->second;
}

void BufferBuilder::AddInterleaved(const std::vector<const Attribute*>& attributes, size_t stride,
                                   size_t vertex_count, Json& json) {
  std::string bytes(stride * vertex_count, '\0');
  size_t offset = 0;
  for (const Attribute* attribute : attributes) {
    for (size_t i = 0; i < vertex_count; ++i)
      PutElement(attribute->stream, i, bytes.data() + i * stride + offset);
    offset += Padded(attribute->stream.format.stored_bytes());
  }
  const SectionKey section = {Part::kVertices, stride};
  const size_t start = Place(section, bytes);
  offset = 0;
  for (const Attribute* attribute : attributes) {
    const Stream& stream = attribute->stream;
    json[attribute->semantic] =
        AddAccessor({.section = section,
                     .offset = start + offset,
                     .format = stream.format,
                     .count = vertex_count,
                     .bounds = attribute->semantic == "POSITION" ? BoundsOf(stream) : Json()});
    offset += Padded(stream.format.stored_bytes());
  }
}

void BufferBuilder::AddAttributes(const std::vector<const Attribute*>& attributes,
                                  size_t vertex_count, Json& json) {
  json = Json::object();
  std::vector<const Attribute*> block;
  size_t stride = 0;
  for (const Attribute* attribute : attributes) {
    const size_t size = Padded(attribute->stream.format.stored_bytes());
    if (!block.empty() && stride + size > kStrideMax) {
      AddInterleaved(block, stride, vertex_count, json);
      block.clear();
      stride = 0;
    }
    block.push_back(attribute);
    stride += size;
  }
  if (!block.empty()) AddInterleaved(block, stride, vertex_count, json);
}

size_t BufferBuilder::AddIndices(const Primitive& primitive) {
  const bool is_short = primitive.vertex_count <= kShortVerticesMax;
  Stream stream = MakeStream({.component = is_short ? Component::kUint16 : Component::kUint32},
                             primitive.indices.size());
  for (size_t i = 0; i < primitive.indices.size(); ++i)
    PutInteger(stream, i, 0, primitive.indices[i]);
  const SectionKey section = {is_short ? Part::kIndices16 : Part::kIndices32, 0};
  return AddAccessor({.section = section,
                      .offset = Place(section, {stream.bytes.begin(), stream.bytes.end()}),
                      .format = stream.format,
                      .count = stream.count,
                      .bounds = Json()});
}

void BufferBuilder::AddPrimitive(const Primitive& primitive, Json& json) {
  for (const char* key : {"attributes", "indices", "mode", "targets"}) json.erase(key);
  std::vector<const Attribute*> base;
  std::vector<std::vector<const Attribute*>> targets;
  for (const Attribute& attribute : primitive.attributes) {
    if (attribute.target == kBase) {
      base.push_back(&attribute);
      continue;
    }
    const auto target = static_cast<size_t>(attribute.target);
    if (target >= targets.size()) targets.resize(target + 1);
    targets[target].push_back(&attribute);
  }
  AddAttributes(base, primitive.vertex_count, json["attributes"]);
  for (const std::vector<const Attribute*>& target : targets) {
    Json attributes;
    AddAttributes(target, primitive.vertex_count, attributes);
    json["targets"].push_back(std::move(attributes));
  }
  if (!primitive.indices.empty()) json["indices"] = AddIndices(primitive);
  if (!primitive.is_triangles()) json["mode"] = static_cast<int>(primitive.mode);
}

size_t BufferBuilder::AddStream(const Stream& stream, Use use, bool has_bounds) {
  const size_t size = stream.format.stored_bytes();
  std::string bytes(size * stream.count, '\0');
  for (size_t i = 0; i < stream.count; ++i) PutElement(stream, i, bytes.data() + i * size);
  const SectionKey section = {use == Use::kInverseBind ? Part::kInverseBind : Part::kOther, 0};
  return AddAccessor({.section = section,
                      .offset = Place(section, bytes),
                      .format = stream.format,
                      .count = stream.count,
                      .bounds = has_bounds ? BoundsOf(stream) : Json()});
}

std::string BufferBuilder::Finish(Json& json) {
  for (const char* key : {"accessors", "bufferViews", "buffers"}) json.erase(key);
  if (sections_.empty()) return {};
  std::string buffer;
  std::map<SectionKey, size_t> views;
  for (const auto& [key, section] : sections_) {
    Json view = {{"buffer", 0}, {"byteLength", section.bytes.size()}};
    if (!buffer.empty()) view["byteOffset"] = buffer.size();
    if (key.first == Part::kVertices) {
      view["byteStride"] = key.second;
      view["target"] = kArrayBuffer;
    } else if (key.first == Part::kIndices16 || key.first == Part::kIndices32) {
      view["target"] = kElementArrayBuffer;
    }
    views[key] = views.size();
    json["bufferViews"].push_back(std::move(view));
    buffer += section.bytes;
  }
  for (Accessor& accessor : accessors_) {
    Json entry = {{"bufferView", views.at(accessor.section)},
                  {"componentType", static_cast<int>(accessor.format.component)},
                  {"count", accessor.count},
                  {"type", ShapeName(accessor.format.shape)}};
    if (accessor.offset != 0) entry["byteOffset"] = accessor.offset;
    if (accessor.format.is_normalized) entry["normalized"] = true;
    if (!accessor.bounds.is_null()) entry.update(accessor.bounds);
    json["accessors"].push_back(std::move(entry));
  }
  json["buffers"] = Json::array({{{"byteLength", buffer.size()}}});
  return buffer;
}

}  // namespace galley::worker::mesh
