#include "worker/cookers/mesh/testing/sample_meshes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace galley::worker::mesh {
namespace {

using Json = nlohmann::json;

size_t WidthOf(std::string_view type) {
  if (type == "SCALAR") return 1;
  if (type == "MAT4") return 16;
  return static_cast<size_t>(type.back() - '0');
}

size_t BytesOf(int component) { return component <= 5121 ? 1 : component <= 5123 ? 2 : 4; }

std::string Word(size_t value) {
  std::string word;
  for (int shift = 0; shift < 32; shift += 8) word += static_cast<char>(value >> shift & 0xFF);
  return word;
}

std::string Chunk(std::string_view type, std::string bytes, char padding) {
  while (bytes.size() % 4 != 0) bytes += padding;
  return Word(bytes.size()) + std::string(type) + bytes;
}

Json Bounds(const std::vector<float>& values, size_t width, bool is_max) {
  Json bounds = Json::array();
  for (size_t c = 0; c < width; ++c) {
    float bound = values[c];
    for (size_t i = c; i < values.size(); i += width)
      bound = is_max ? std::max(bound, values[i]) : std::min(bound, values[i]);
    bounds.push_back(double{bound});
  }
  return bounds;
}

// A wave without libm: a parabola up and down, period 2.
float Bump(float x) {
  const float at = x - 2 * std::floor(x / 2);
  return at < 1 ? 4 * at * (1 - at) : -4 * (at - 1) * (2 - at);
}

}  // namespace

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string GlbOf(std::string_view json, std::string_view binary) {
  std::string chunks = Chunk("JSON", std::string(json), ' ');
  if (!binary.empty()) chunks += Chunk(std::string_view("BIN\0", 4), std::string(binary), '\0');
  return "glTF" + Word(2) + Word(12 + chunks.size()) + chunks;
}

std::string TinyPng() {
  constexpr unsigned char kBytes[] = {
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48,
      0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00,
      0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00, 0x00, 0x00, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78,
      0x9C, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0x77, 0xCD, 0x72, 0xB6, 0x00,
      0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};
  return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)};
}

GltfBuilder::GltfBuilder() { json = {{"asset", {{"version", "2.0"}}}}; }

size_t GltfBuilder::AddView(std::string_view bytes, size_t stride) {
  buffer.resize((buffer.size() + 3) / 4 * 4);
  Json view = {{"buffer", 0}, {"byteOffset", buffer.size()}, {"byteLength", bytes.size()}};
  if (stride != 0) view["byteStride"] = stride;
  buffer += bytes;
  json["bufferViews"].push_back(view);
  return json["bufferViews"].size() - 1;
}

size_t GltfBuilder::AddFloats(std::string_view type, const std::vector<float>& values,
                              bool has_bounds) {
  const size_t width = WidthOf(type);
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  Json accessor = {{"bufferView", AddView(bytes)},
                   {"componentType", 5126},
                   {"count", values.size() / width},
                   {"type", type}};
  if (has_bounds) {
    accessor["min"] = Bounds(values, width, false);
    accessor["max"] = Bounds(values, width, true);
  }
  json["accessors"].push_back(accessor);
  return json["accessors"].size() - 1;
}

size_t GltfBuilder::AddIntegers(std::string_view type, int component,
                                const std::vector<uint32_t>& values, bool is_normalized) {
  const size_t width = WidthOf(type);
  const size_t element = width * BytesOf(component);
  const bool is_scalar = type == "SCALAR";
  const size_t stride = is_scalar ? element : (element + 3) / 4 * 4;
  std::string bytes(values.size() / width * stride, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(bytes.data() + i / width * stride + i % width * BytesOf(component), &values[i],
                BytesOf(component));
  }
  Json accessor = {{"bufferView", AddView(bytes, is_scalar ? 0 : stride)},
                   {"componentType", component},
                   {"count", values.size() / width},
                   {"type", type}};
  if (is_normalized) accessor["normalized"] = true;
  json["accessors"].push_back(accessor);
  return json["accessors"].size() - 1;
}

void GltfBuilder::AddMesh(Json primitive) {
  json["meshes"].push_back({{"primitives", Json::array({std::move(primitive)})}});
  json["nodes"].push_back({{"mesh", json["meshes"].size() - 1}});
  if (!json.contains("scenes")) json["scenes"] = Json::array({{{"nodes", Json::array()}}});
  json["scenes"][0]["nodes"].push_back(json["nodes"].size() - 1);
}

std::string GltfBuilder::Glb() const {
  Json copy = json;
  if (!buffer.empty()) copy["buffers"] = Json::array({{{"byteLength", buffer.size()}}});
  return GlbOf(copy.dump(), buffer);
}

std::string GltfBuilder::Gltf(std::string_view uri) const {
  Json copy = json;
  const std::string inside = "data:application/octet-stream;base64," + Base64(buffer);
  copy["buffers"] = Json::array(
      {{{"byteLength", buffer.size()}, {"uri", uri.empty() ? inside : std::string(uri)}}});
  return copy.dump(1);
}

Surface Cube() {
  Surface cube;
  for (int side = 0; side < 6; ++side) {
    const auto axis = static_cast<size_t>(side / 2);
    const float sign = side % 2 == 0 ? 1.0f : -1.0f;
    for (int corner = 0; corner < 4; ++corner) {
      const float u = corner == 1 || corner == 2 ? 1.0f : 0.0f;
      const float v = corner >= 2 ? 1.0f : 0.0f;
      float p[3];
      float n[3] = {0, 0, 0};
      p[axis] = sign;
      p[(axis + 1) % 3] = (2 * u - 1) * sign;
      p[(axis + 2) % 3] = 2 * v - 1;
      n[axis] = sign;
      cube.positions.insert(cube.positions.end(), {p[0] + 10, p[1], p[2]});
      cube.normals.insert(cube.normals.end(), {n[0], n[1], n[2]});
      cube.texcoords.insert(cube.texcoords.end(), {u, 1 - v});
    }
    const auto first = static_cast<uint32_t>(side * 4);
    cube.indices.insert(cube.indices.end(),
                        {first, first + 1, first + 2, first, first + 2, first + 3});
  }
  return cube;
}

Surface Waves(uint32_t columns, uint32_t rows) {
  Surface waves;
  const auto height = [](float x, float y) { return 0.2f * Bump(3 * x) + 0.1f * Bump(2 * y); };
  for (uint32_t row = 0; row <= rows; ++row) {
    for (uint32_t column = 0; column <= columns; ++column) {
      const float u = static_cast<float>(column) / static_cast<float>(columns);
      const float v = static_cast<float>(row) / static_cast<float>(rows);
      const float x = 2 * u - 1;
      const float y = 3 * v;
      const float dx = (height(x + 0.01f, y) - height(x - 0.01f, y)) / 0.02f;
      const float dy = (height(x, y + 0.01f) - height(x, y - 0.01f)) / 0.02f;
      const float length = std::sqrt(dx * dx + dy * dy + 1);
      waves.positions.insert(waves.positions.end(), {x, y, height(x, y)});
      waves.normals.insert(waves.normals.end(), {-dx / length, -dy / length, 1 / length});
      waves.texcoords.insert(waves.texcoords.end(), {u, 1 - v});
    }
  }
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      const uint32_t a = row * (columns + 1) + column;
      const uint32_t b = a + columns + 1;
      waves.indices.insert(waves.indices.end(), {a, a + 1, b + 1, a, b + 1, b});
    }
  }
  return waves;
}

Json AddSurface(GltfBuilder& builder, const Surface& surface) {
  Json primitive;
  primitive["attributes"] = {{"POSITION", builder.AddFloats("VEC3", surface.positions, true)},
                             {"NORMAL", builder.AddFloats("VEC3", surface.normals)},
                             {"TEXCOORD_0", builder.AddFloats("VEC2", surface.texcoords)}};
  const bool is_short = surface.positions.size() / 3 <= 65'535;
  primitive["indices"] = builder.AddIntegers("SCALAR", is_short ? 5123 : 5125, surface.indices);
  return primitive;
}

GltfBuilder CubeScene() {
  GltfBuilder builder;
  builder.AddMesh(AddSurface(builder, Cube()));
  return builder;
}

GltfBuilder SkinnedScene() {
  GltfBuilder builder;
  const Surface waves = Waves(6, 20);
  Json primitive = AddSurface(builder, waves);
  std::vector<uint32_t> joints;
  std::vector<float> weights;
  for (size_t i = 0; i < waves.positions.size(); i += 3) {
    const float share = waves.positions[i + 1] / 3;
    joints.insert(joints.end(), {0, 1, 1, 0});  // the third moves nothing
    weights.insert(weights.end(), {1 - share, share, 0, 0});
  }
  primitive["attributes"]["JOINTS_0"] = builder.AddIntegers("VEC4", 5123, joints);
  primitive["attributes"]["WEIGHTS_0"] = builder.AddFloats("VEC4", weights);
  builder.AddMesh(primitive);
  const size_t inverse_binds =
      builder.AddFloats("MAT4", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,     0, 1,
                                 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1.5f, 0, 1});
  Json& json = builder.json;
  json["skins"] = Json::array({{{"joints", {1, 2}}, {"inverseBindMatrices", inverse_binds}}});
  json["nodes"][0]["skin"] = 0;
  json["nodes"][0]["name"] = "body";
  json["nodes"].push_back({{"name", "hip"}, {"children", {2}}, {"translation", {0.5, 0, 0}}});
  json["nodes"].push_back({{"name", "head"}, {"translation", {0, 1.5, 0.25}}});
  json["scenes"][0]["nodes"] = {0, 1};
  const size_t times = builder.AddFloats("SCALAR", {0, 0.5f, 1}, true);
  const size_t turns = builder.AddFloats("VEC4", {0, 0, 0, 1, 0.6f, 0, 0, 0.8f, 0, 0, 0, 1});
  Json channel = {{"sampler", 0}, {"target", {{"node", 2}, {"path", "rotation"}}}};
  Json sampler = {{"input", times}, {"output", turns}};
  json["animations"] = Json::array({{{"name", "nod"},
                                     {"samplers", Json::array({sampler})},
                                     {"channels", Json::array({channel})}}});
  return builder;
}

GltfBuilder MorphScene() {
  GltfBuilder builder;
  const Surface waves = Waves(8, 8);
  Json primitive = AddSurface(builder, waves);
  std::vector<float> lift(waves.positions.size(), 0);
  std::vector<float> stretch(waves.positions.size(), 0);
  std::vector<float> tilt(waves.positions.size(), 0);
  for (size_t i = 0; i < lift.size(); i += 3) {
    lift[i + 2] = 0.5f * waves.positions[i];
    stretch[i + 1] = 4 * waves.positions[i + 1];  // far beyond the mesh itself
    tilt[i] = 0.25f;
  }
  primitive["targets"] = Json::array({{{"POSITION", builder.AddFloats("VEC3", lift, true)},
                                       {"NORMAL", builder.AddFloats("VEC3", tilt)}},
                                      {{"POSITION", builder.AddFloats("VEC3", stretch, true)}}});
  builder.AddMesh(primitive);
  Json& json = builder.json;
  json["meshes"][0]["weights"] = {0, 0};
  json["meshes"][0]["extras"] = {{"targetNames", {"lift", "stretch"}}};
  json["nodes"][0]["weights"] = {0.5, 0.25};
  const size_t times = builder.AddFloats("SCALAR", {0, 1}, true);
  const size_t weights = builder.AddFloats("SCALAR", {0, 0, 1, 1});
  Json channel = {{"sampler", 0}, {"target", {{"node", 0}, {"path", "weights"}}}};
  Json sampler = {{"input", times}, {"output", weights}};
  json["animations"] =
      Json::array({{{"samplers", Json::array({sampler})}, {"channels", Json::array({channel})}}});
  return builder;
}

GltfBuilder MaterialsScene() {
  GltfBuilder builder;
  Json first = AddSurface(builder, Cube());
  Json second = first;
  first["material"] = 0;
  second["material"] = 1;
  builder.AddMesh(first);
  Json& json = builder.json;
  json["meshes"][0]["primitives"].push_back(second);
  const size_t view = builder.AddView(TinyPng());
  json["images"] = Json::parse(R"([{"uri": "tex/brick%20wall.png"},
      {"mimeType": "image/png", "name": "Bark/Rough.png"}, {}, {"uri": "unused.png"}])");
  json["images"][1]["bufferView"] = view;
  json["images"][2]["uri"] = "data:image/png;base64," + Base64(TinyPng());
  json["samplers"] = Json::parse(R"([{"wrapS": 33071, "magFilter": 9728}])");
  json["textures"] = Json::parse(R"([{"source": 0, "sampler": 0}, {"source": 1}, {"source": 2}])");
  json["materials"] = Json::parse(R"([
      {"name": "wall", "extras": {"surface": "stone"},
       "pbrMetallicRoughness": {
         "baseColorFactor": [1, 0.5, 0.25, 1],
         "baseColorTexture": {"index": 0, "extensions": {
           "KHR_texture_transform": {"scale": [2, 2], "texCoord": 0}}},
         "metallicRoughnessTexture": {"index": 1}},
       "occlusionTexture": {"index": 1, "strength": 0.5},
       "normalTexture": {"index": 2, "scale": 0.75}},
      {"name": "glass", "emissiveTexture": {"index": 1},
       "extensions": {"KHR_materials_clearcoat": {
         "clearcoatFactor": 1, "clearcoatTexture": {"index": 1}}}}])");
  json["extensionsUsed"] = {"KHR_texture_transform", "KHR_materials_clearcoat"};
  return builder;
}

void PutFloats(GltfBuilder& builder, const char* name, const char* type, size_t count,
               const std::vector<float>& element) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) values.insert(values.end(), element.begin(), element.end());
  builder.json["meshes"][0]["primitives"][0]["attributes"][name] = builder.AddFloats(type, values);
}

GltfBuilder HalvesScene() {
  const Surface waves = Waves(10, 10);
  GltfBuilder builder;
  Surface left = waves;
  Surface right = waves;
  left.indices.clear();
  right.indices.clear();
  for (size_t i = 0; i < waves.indices.size(); i += 6) {
    Surface& side = i / 6 % 10 < 5 ? left : right;
    side.indices.insert(side.indices.end(), &waves.indices[i], &waves.indices[i] + 6);
  }
  Json primitives = {AddSurface(builder, left), AddSurface(builder, right)};
  primitives[0]["material"] = 0;
  primitives[1]["material"] = 1;
  builder.AddMesh(primitives[0]);
  builder.json["meshes"][0]["primitives"] = primitives;
  builder.json["materials"] = {Json::object(), Json::object()};
  return builder;
}

}  // namespace galley::worker::mesh
