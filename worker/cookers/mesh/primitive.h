// Primitive and MeshData: the geometry of a glTF mesh in memory, and its reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/document.h"
#include "worker/cookers/mesh/stream.h"

namespace galley::worker::mesh {

// The values are glTF's `mode`.
enum class Mode : uint8_t {
  kPoints = 0,
  kLines = 1,
  kLineLoop = 2,
  kLineStrip = 3,
  kTriangles = 4,
  kTriangleStrip = 5,
  kTriangleFan = 6
};

inline constexpr int kBase = -1;

struct Attribute {
  std::string semantic;  // "POSITION", "TEXCOORD_0", "_HEAT"
  int target = kBase;    // kBase, or the morph target whose deltas these are
  Stream stream;
};

// Invariant: all streams have `vertex_count` elements; indices lie below it.
struct Primitive {
  Mode mode = Mode::kTriangles;
  std::string pointer;  // the place in the source, for messages
  std::vector<Attribute> attributes;
  size_t vertex_count = 0;
  std::vector<uint32_t> indices;  // empty: the vertices in order; never for triangles

  bool is_triangles() const { return mode == Mode::kTriangles; }
  const Attribute* Find(std::string_view semantic, int target = kBase) const;
  Attribute* Find(std::string_view semantic, int target = kBase);
};

struct MeshData {
  std::vector<Primitive> primitives;
  size_t target_count = 0;
};

// Keeps the given vertices, in the given order. The caller adapts the indices.
void KeepVertices(Primitive& primitive, std::span<const uint32_t> vertices);

// Reads mesh `index`. Only vertices that its indices use are read. Triangle strips and fans become
// lists. Triangles with two corners at the same vertex are left out, unless no other triangle is
// there. A primitive without POSITION is removed, from the document's JSON, too, even if no
// primitive is left. Warnings go to the document. INVALID_ARGUMENT: attributes of different counts,
// an index out of range, an attribute in a format that glTF does not allow for it, too few
// vertices. REQUIRES: index in range.
absl::StatusOr<MeshData> ReadMesh(Document& document, size_t index);

}  // namespace galley::worker::mesh
