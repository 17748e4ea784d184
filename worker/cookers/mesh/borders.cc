#include "worker/cookers/mesh/borders.h"

#include <algorithm>
#include <cstdint>

#include "worker/cookers/mesh/geometry.h"

namespace galley::worker::mesh {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;
constexpr uint32_t kSeveral = UINT32_MAX - 1;

// The number of the place of each vertex, for the vertices of all triangle primitives, one
// primitive behind the other.
std::vector<uint32_t> NumberPlaces(const MeshData& mesh) {
  std::vector<float> positions;
  for (const Primitive& primitive : mesh.primitives) {
    if (!primitive.is_triangles()) continue;
    const std::vector<float> own = ToFloats(primitive.Find("POSITION")->stream);
    positions.insert(positions.end(), own.begin(), own.end());
  }
  if (positions.empty()) return {};
  return NumberEqual({{positions.data(), 3 * sizeof(float)}}, positions.size() / 3);
}

// The owner of each place: kNobody, the index of the only primitive with vertices there, or
// kSeveral.
std::vector<uint32_t> FindOwners(const MeshData& mesh, const std::vector<uint32_t>& places) {
  std::vector<uint32_t> owners(places.size(), kNobody);
  size_t vertex = 0;
  for (uint32_t i = 0; i < mesh.primitives.size(); ++i) {
    if (!mesh.primitives[i].is_triangles()) continue;
    for (const size_t end = vertex + mesh.primitives[i].vertex_count; vertex < end; ++vertex) {
      uint32_t& owner = owners[places[vertex]];
      owner = owner == kNobody || owner == i ? i : kSeveral;
    }
  }
  return owners;
}

uint64_t Edge(uint32_t from, uint32_t to) { return uint64_t{from} << 32 | to; }

// `places`: the places of the primitive's own vertices.
bool HasSharedBorder(const Primitive& primitive, const uint32_t* places,
                     const std::vector<uint32_t>& owners) {
  std::vector<uint64_t> edges;
  edges.reserve(primitive.indices.size());
  for (size_t i = 0; i < primitive.indices.size(); ++i) {
    const size_t next = i % 3 == 2 ? i - 2 : i + 1;
    edges.push_back(Edge(places[primitive.indices[i]], places[primitive.indices[next]]));
  }
  std::ranges::sort(edges);
  return std::ranges::any_of(edges, [&](uint64_t edge) {
    const auto from = static_cast<uint32_t>(edge >> 32);
    const auto to = static_cast<uint32_t>(edge);
    const bool is_shared = owners[from] == kSeveral || owners[to] == kSeveral;
    return is_shared && !std::binary_search(edges.begin(), edges.end(), Edge(to, from));
  });
}

}  // namespace

std::vector<bool> FindSharedBorders(const MeshData& mesh) {
  const std::vector<uint32_t> places = NumberPlaces(mesh);
  const std::vector<uint32_t> owners = FindOwners(mesh, places);
  std::vector<bool> is_shared;
  size_t vertex = 0;
  for (const Primitive& primitive : mesh.primitives) {
    is_shared.push_back(primitive.is_triangles() &&
                        HasSharedBorder(primitive, places.data() + vertex, owners));
    if (primitive.is_triangles()) vertex += primitive.vertex_count;
  }
  return is_shared;
}

}  // namespace galley::worker::mesh
