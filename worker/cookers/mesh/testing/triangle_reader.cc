#include "worker/cookers/mesh/testing/triangle_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "fmt/format.h"

namespace galley::worker::mesh {
namespace {

using Json = nlohmann::json;
using Matrix = std::array<double, 16>;  // column after column

size_t WidthOf(const std::string& type) {
  if (type == "SCALAR") return 1;
  if (type == "MAT4") return 16;
  if (type.starts_with("VEC")) return static_cast<size_t>(type[3] - '0');
  throw std::runtime_error("type " + type);
}

size_t ComponentBytesOf(int component) { return component <= 5121 ? 1 : component <= 5123 ? 2 : 4; }

double NumberAt(const std::string& bytes, size_t offset, int component, bool is_normalized) {
  const auto read = [&](auto number, double scale) {
    if (offset + sizeof(number) > bytes.size()) throw std::runtime_error("beyond the buffer");
    std::memcpy(&number, bytes.data() + offset, sizeof(number));
    const auto value = static_cast<double>(number);
    return is_normalized ? std::max(value / scale, -1.0) : value;
  };
  switch (component) {
    case 5120:
      return read(int8_t{}, 127);
    case 5121:
      return read(uint8_t{}, 255);
    case 5122:
      return read(int16_t{}, 32767);
    case 5123:
      return read(uint16_t{}, 65535);
    case 5125:
      return read(uint32_t{}, 1);
    case 5126:
      return read(float{}, 1);
    default:
      throw std::runtime_error("component type");
  }
}

// Reads `count` elements that `place` (an accessor, or a part of a sparse one) points at.
std::vector<double> ReadPlace(const GlbFile& file, const Json& place, int component, size_t width,
                              size_t count, bool is_normalized) {
  const Json& view = file.json["bufferViews"].at(place["bufferView"].get<size_t>());
  const size_t start = view.value("byteOffset", size_t{0}) + place.value("byteOffset", size_t{0});
  const size_t stride = view.value("byteStride", width * ComponentBytesOf(component));
  std::vector<double> values(count * width);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] =
        NumberAt(file.binary, start + i / width * stride + i % width * ComponentBytesOf(component),
                 component, is_normalized);
  }
  return values;
}

Matrix Identity() { return {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}; }

Matrix Multiply(const Matrix& a, const Matrix& b) {
  Matrix product{};
  for (size_t column = 0; column < 4; ++column) {
    for (size_t row = 0; row < 4; ++row) {
      for (size_t k = 0; k < 4; ++k)
        product[column * 4 + row] += a[k * 4 + row] * b[column * 4 + k];
    }
  }
  return product;
}

std::array<double, 3> Transformed(const Matrix& m, const std::array<double, 3>& p, double w) {
  std::array<double, 3> result{};
  for (size_t row = 0; row < 3; ++row)
    result[row] = m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row] * w;
  return result;
}

Matrix LocalOf(const Json& node) {
  if (node.contains("matrix")) return node["matrix"].get<Matrix>();
  const auto t = node.value("translation", std::array<double, 3>{0, 0, 0});
  const auto q = node.value("rotation", std::array<double, 4>{0, 0, 0, 1});
  const auto s = node.value("scale", std::array<double, 3>{1, 1, 1});
  const double x = q[0];
  const double y = q[1];
  const double z = q[2];
  const double w = q[3];
  const std::array<double, 9> r = {
      1 - 2 * (y * y + z * z), 2 * (x * y + z * w),     2 * (x * z - y * w),
      2 * (x * y - z * w),     1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
      2 * (x * z + y * w),     2 * (y * z - x * w),     1 - 2 * (x * x + y * y)};
  Matrix matrix = Identity();
  for (size_t column = 0; column < 3; ++column) {
    for (size_t row = 0; row < 3; ++row) matrix[column * 4 + row] = r[column * 3 + row] * s[column];
    matrix[12 + column] = t[column];
  }
  return matrix;
}

class Reader {
 public:
  explicit Reader(const GlbFile& file) : file_(file), json_(file.json) {}

  Drawn Read() {
    worlds_.resize(json_["nodes"].size());
    for (const Json& root : json_["scenes"][0]["nodes"]) Place(root.get<size_t>(), Identity());
    for (const size_t node : shown_) ReadNode(node);
    return std::move(drawn_);
  }

 private:
  void Place(size_t node, const Matrix& parent) {
    const Json& json = json_["nodes"][node];
    worlds_[node] = Multiply(parent, LocalOf(json));
    if (json.contains("mesh")) shown_.push_back(node);
    if (!json.contains("children")) return;
    for (const Json& child : json["children"]) Place(child.get<size_t>(), worlds_[node]);
  }

  std::vector<Matrix> JointMatrices(const Json& skin) const {
    std::vector<Matrix> matrices;
    std::vector<double> inverse;
    if (skin.contains("inverseBindMatrices"))
      inverse = ReadValues(file_, skin["inverseBindMatrices"].get<size_t>());
    for (size_t i = 0; i < skin["joints"].size(); ++i) {
      Matrix bind = Identity();
      for (size_t k = 0; k < 16 && !inverse.empty(); ++k) bind[k] = inverse.at(i * 16 + k);
      matrices.push_back(Multiply(worlds_[skin["joints"][i].get<size_t>()], bind));
    }
    return matrices;
  }

  void ReadNode(size_t index) {
    const Json& node = json_["nodes"][index];
    const Json& mesh = json_["meshes"][node["mesh"].get<size_t>()];
    std::vector<double> weights = mesh.value("weights", std::vector<double>());
    if (node.contains("weights")) weights = node["weights"].get<std::vector<double>>();
    std::vector<Matrix> joints;
    if (node.contains("skin")) joints = JointMatrices(json_["skins"][node["skin"].get<size_t>()]);
    for (const Json& primitive : mesh["primitives"])
      ReadPrimitive(primitive, weights, joints, worlds_[index]);
  }

  void ReadPrimitive(const Json& primitive, const std::vector<double>& weights,
                     const std::vector<Matrix>& joints, const Matrix& world) {
    if (primitive.value("mode", 4) != 4) return;
    std::map<std::string, std::vector<double>> values;
    for (const auto& [semantic, accessor] : primitive["attributes"].items())
      values[semantic] = ReadValues(file_, accessor.get<size_t>());
    for (size_t target = 0; target < weights.size(); ++target) {
      for (const auto& [semantic, accessor] : primitive["targets"][target].items()) {
        const std::vector<double> deltas = ReadValues(file_, accessor.get<size_t>());
        for (size_t i = 0; i < deltas.size(); ++i)
          values[semantic][i] += weights[target] * deltas[i];
      }
    }
    const size_t count = values["POSITION"].size() / 3;
    std::vector<Corner> corners;
    std::vector<double> indices;
    for (size_t i = 0; i < count; ++i) {
      corners.push_back(CornerOf(values, i, count, joints, world));
      indices.push_back(static_cast<double>(i));
    }
    if (primitive.contains("indices"))
      indices = ReadValues(file_, primitive["indices"].get<size_t>());
    for (size_t i = 0; i + 2 < indices.size(); i += 3) {
      drawn_.triangles.push_back({corners.at(static_cast<size_t>(indices[i])),
                                  corners.at(static_cast<size_t>(indices[i + 1])),
                                  corners.at(static_cast<size_t>(indices[i + 2]))});
      drawn_.materials.push_back(primitive.value("material", -1));
    }
  }

  static Corner CornerOf(const std::map<std::string, std::vector<double>>& values, size_t vertex,
                         size_t count, const std::vector<Matrix>& joints, const Matrix& world) {
    Corner corner;
    for (const auto& [semantic, all] : values) {
      const size_t width = all.size() / count;
      for (size_t c = 0; c < width; ++c)
        corner.attributes[semantic].push_back(all[vertex * width + c]);
    }
    Matrix matrix = world;
    if (!joints.empty()) {
      matrix = {};
      for (size_t k = 0; k < 4; ++k) {
        const Matrix& joint = joints.at(static_cast<size_t>(corner.attributes["JOINTS_0"][k]));
        for (size_t i = 0; i < 16; ++i) matrix[i] += joint[i] * corner.attributes["WEIGHTS_0"][k];
      }
    }
    const auto& p = corner.attributes["POSITION"];
    corner.position = Transformed(matrix, {p[0], p[1], p[2]}, 1);
    for (const char* direction : {"NORMAL", "TANGENT"}) {
      const auto found = corner.attributes.find(direction);
      if (found == corner.attributes.end()) continue;
      std::vector<double>& d = found->second;
      const auto turned = Transformed(matrix, {d[0], d[1], d[2]}, 0);
      const double length =
          std::sqrt(turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2]);
      for (size_t i = 0; i < 3; ++i) d[i] = length == 0 ? 0 : turned[i] / length;
    }
    for (const char* used : {"POSITION", "JOINTS_0", "WEIGHTS_0"}) corner.attributes.erase(used);
    return corner;
  }

  const GlbFile& file_;
  const Json& json_;
  std::vector<Matrix> worlds_;
  std::vector<size_t> shown_;
  Drawn drawn_;
};

bool IsNear(const Corner& expected, const Corner& found, const Tolerance& tolerance) {
  for (size_t i = 0; i < 3; ++i) {
    if (std::abs(expected.position[i] - found.position[i]) > tolerance.position) return false;
  }
  for (const auto& [semantic, values] : expected.attributes) {
    const auto other = found.attributes.find(semantic);
    if (other == found.attributes.end() || other->second.size() != values.size()) return false;
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::abs(values[i] - other->second[i]) > tolerance.attribute) return false;
    }
  }
  return true;
}

bool IsNear(const Triangle& expected, const Triangle& found, const Tolerance& tolerance) {
  for (size_t shift = 0; shift < 3; ++shift) {
    bool is_near = true;
    for (size_t i = 0; i < 3 && is_near; ++i)
      is_near = IsNear(expected[i], found[(i + shift) % 3], tolerance);
    if (is_near) return true;
  }
  return false;
}

constexpr double kCell = 0.05;
using Cell = std::array<int64_t, 3>;

Cell CellOf(const Triangle& triangle) {
  Cell cell{};
  for (size_t axis = 0; axis < 3; ++axis) {
    const double sum =
        triangle[0].position[axis] + triangle[1].position[axis] + triangle[2].position[axis];
    cell[axis] = static_cast<int64_t>(std::floor(sum / 3 / kCell));
  }
  return cell;
}

}  // namespace

GlbFile ReadGlbFile(std::string_view bytes) {
  const auto word = [&](size_t offset) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.substr(offset, 4).data(), 4);
    return value;
  };
  if (!bytes.starts_with("glTF") || word(8) != bytes.size()) throw std::runtime_error("no GLB");
  GlbFile file;
  const size_t json_size = word(12);
  file.json = Json::parse(bytes.substr(20, json_size));
  if (20 + json_size < bytes.size()) file.binary = bytes.substr(28 + json_size);
  return file;
}

std::vector<double> ReadValues(const GlbFile& file, size_t index) {
  const Json& accessor = file.json["accessors"].at(index);
  const int component = accessor["componentType"].get<int>();
  const size_t width = WidthOf(accessor["type"].get<std::string>());
  const auto count = accessor["count"].get<size_t>();
  const bool is_normalized = accessor.value("normalized", false);
  std::vector<double> values(count * width, 0);
  if (accessor.contains("bufferView"))
    values = ReadPlace(file, accessor, component, width, count, is_normalized);
  if (!accessor.contains("sparse")) return values;
  const Json& sparse = accessor["sparse"];
  const auto sparse_count = sparse["count"].get<size_t>();
  const int where_type = sparse["indices"]["componentType"].get<int>();
  const std::vector<double> where =
      ReadPlace(file, sparse["indices"], where_type, 1, sparse_count, false);
  const std::vector<double> what =
      ReadPlace(file, sparse["values"], component, width, sparse_count, is_normalized);
  for (size_t i = 0; i < what.size(); ++i)
    values.at(static_cast<size_t>(where[i / width]) * width + i % width) = what[i];
  return values;
}

Drawn ReadTriangles(const GlbFile& file) { return Reader(file).Read(); }

std::string Compare(const Drawn& expected, const Drawn& found, const Tolerance& tolerance) {
  if (expected.triangles.size() != found.triangles.size()) {
    return fmt::format("{} triangles, expected {}", found.triangles.size(),
                       expected.triangles.size());
  }
  std::map<Cell, std::vector<size_t>> cells;
  for (size_t i = 0; i < found.triangles.size(); ++i)
    cells[CellOf(found.triangles[i])].push_back(i);
  for (size_t i = 0; i < expected.triangles.size(); ++i) {
    const Cell cell = CellOf(expected.triangles[i]);
    bool is_found = false;
    for (int64_t neighbour = 0; neighbour < 27 && !is_found; ++neighbour) {
      const auto at = cells.find({cell[0] + neighbour % 3 - 1, cell[1] + neighbour / 3 % 3 - 1,
                                  cell[2] + neighbour / 9 - 1});
      if (at == cells.end()) continue;
      const auto match = std::find_if(at->second.begin(), at->second.end(), [&](size_t k) {
        return expected.materials[i] == found.materials[k] &&
               IsNear(expected.triangles[i], found.triangles[k], tolerance);
      });
      is_found = match != at->second.end();
      if (is_found) at->second.erase(match);
    }
    if (!is_found) {
      const auto& p = expected.triangles[i][0].position;
      return fmt::format("triangle {}, at {} {} {}, is not there", i, p[0], p[1], p[2]);
    }
  }
  return "";
}

}  // namespace galley::worker::mesh
