// TriangleReader: an independent reader of GLBs that says what is drawn: triangles in the scene's
// space, with skins and morph weights applied, whatever the formats, order and nodes. It shares no
// code with the cooker. Malformed files throw.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

namespace galley::worker::mesh {

struct GlbFile {
  nlohmann::json json;
  std::string binary;
};
GlbFile ReadGlbFile(std::string_view bytes);

struct Corner {
  std::array<double, 3> position = {};
  // By semantic, dequantised: "NORMAL" -> 3 numbers. The node turns normals and tangents.
  std::map<std::string, std::vector<double>> attributes;
};
using Triangle = std::array<Corner, 3>;
struct Drawn {
  std::vector<Triangle> triangles;
  std::vector<int> materials;  // by triangle; -1: none
};
// The triangles of all nodes at or below the first scene's nodes.
Drawn ReadTriangles(const GlbFile& file);

// An accessor's values, dequantised, sparse values put in.
std::vector<double> ReadValues(const GlbFile& file, size_t accessor);

struct Tolerance {
  double position = 1e-6;
  double attribute = 1e-6;
};
// Empty when each triangle of `expected` has a partner of its own in `found` with equal corners
// (their cycle may begin anywhere), material and attributes (those of `expected`), and no triangle
// of `found` is left over; else a text that says what is missing.
std::string Compare(const Drawn& expected, const Drawn& found, const Tolerance& tolerance);

}  // namespace galley::worker::mesh
