#include "worker/cookers/mesh/geometry.h"

#include <meshoptimizer.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "fmt/format.h"
#include "worker/cookers/library/build_id.h"

namespace galley::worker::mesh {
namespace {

// Triangles may be moved for overdraw as long as the vertex cache loses no more than this.
constexpr float kOverdrawThreshold = 1.01f;
// The most streams that generateVertexRemapMulti takes at once.
constexpr size_t kStreamsMax = 16;

std::vector<float> PositionsOf(const Primitive& primitive) {
  return ToFloats(primitive.Find("POSITION")->stream);
}

// Turns -0.0 into 0.0, since numbers are compared by their bytes.
void ClearNegativeZeros(Stream& stream) {
  if (stream.format.component != Component::kFloat) return;
  const size_t width = stream.format.width();
  for (size_t i = 0; i < stream.count * width; ++i)
    PutFloat(stream, i / width, i % width, stream.At(i / width, i % width) + 0.0f);
}

// Drops triangles with two equal corners, unless all triangles have them.
void DropDegenerate(std::vector<uint32_t>& indices) {
  std::vector<uint32_t> kept;
  kept.reserve(indices.size());
  for (size_t i = 0; i < indices.size(); i += 3) {
    const uint32_t a = indices[i];
    const uint32_t b = indices[i + 1];
    const uint32_t c = indices[i + 2];
    if (a != b && b != c && c != a) kept.insert(kept.end(), {a, b, c});
  }
  if (!kept.empty()) indices = std::move(kept);
}

// Numbers the vertices by their first use and drops the others.
void OrderVertices(Primitive& primitive) {
  std::vector<uint32_t> place(primitive.vertex_count, UINT32_MAX);
  meshopt_optimizeVertexFetchRemap(place.data(), primitive.indices.data(), primitive.indices.size(),
                                   primitive.vertex_count);
  size_t count = 0;
  for (const uint32_t at : place) count += at == UINT32_MAX ? 0 : 1;
  std::vector<uint32_t> vertices(count);
  for (uint32_t vertex = 0; vertex < place.size(); ++vertex) {
    if (place[vertex] != UINT32_MAX) vertices[place[vertex]] = vertex;
  }
  for (uint32_t& index : primitive.indices) index = place[index];
  KeepVertices(primitive, vertices);
}

}  // namespace

std::vector<uint32_t> NumberEqual(const std::vector<ElementBytes>& streams, size_t count) {
  std::vector<meshopt_Stream> taken;
  std::vector<std::vector<uint32_t>> numbers;  // numbers that stand for streams already compared
  // The library takes whole triangles.
  std::vector<uint32_t> all((count + 2) / 3 * 3, 0);
  std::iota(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), 0u);
  const auto number = [&] {
    std::vector<uint32_t> remap(count);
    meshopt_generateVertexRemapMulti(remap.data(), all.data(), all.size(), count, taken.data(),
                                     taken.size());
    return remap;
  };
  for (const ElementBytes& stream : streams) {
    if (taken.size() == kStreamsMax) {
      numbers.push_back(number());
      taken = {{numbers.back().data(), sizeof(uint32_t), sizeof(uint32_t)}};
    }
    taken.push_back({stream.data, stream.size, stream.size});
  }
  return number();
}

void WeldVertices(Primitive& primitive) {
  for (Attribute& attribute : primitive.attributes) ClearNegativeZeros(attribute.stream);
  std::vector<ElementBytes> streams;
  for (const Attribute& attribute : primitive.attributes) {
    streams.push_back({attribute.stream.bytes.data(), attribute.stream.format.element_bytes()});
  }
  const std::vector<uint32_t> remap = NumberEqual(streams, primitive.vertex_count);
  std::vector<uint32_t> first;
  for (uint32_t vertex = 0; vertex < remap.size(); ++vertex) {
    if (remap[vertex] == first.size()) first.push_back(vertex);
  }
  for (uint32_t& index : primitive.indices) index = remap[index];
  KeepVertices(primitive, first);
  DropDegenerate(primitive.indices);
}

void OptimizeOrder(Primitive& primitive) {
  std::vector<uint32_t>& indices = primitive.indices;
  std::vector<uint32_t> ordered(indices.size());
  meshopt_optimizeVertexCache(ordered.data(), indices.data(), indices.size(),
                              primitive.vertex_count);
  const std::vector<float> positions = PositionsOf(primitive);
  meshopt_optimizeOverdraw(indices.data(), ordered.data(), ordered.size(), positions.data(),
                           primitive.vertex_count, 3 * sizeof(float), kOverdrawThreshold);
  OrderVertices(primitive);
}

std::optional<Primitive> Simplified(const Primitive& primitive, const SimplifyOptions& options) {
  Primitive simple = primitive;
  const std::vector<float> positions = PositionsOf(primitive);
  const size_t triangles = primitive.indices.size() / 3;
  const auto wanted = static_cast<size_t>(static_cast<double>(triangles) * options.ratio);
  simple.indices.resize(primitive.indices.size());
  const size_t count =
      meshopt_simplify(simple.indices.data(), primitive.indices.data(), primitive.indices.size(),
                       positions.data(), primitive.vertex_count, 3 * sizeof(float),
                       std::max<size_t>(wanted, 1) * 3, static_cast<float>(options.error_max),
                       options.is_border_locked ? meshopt_SimplifyLockBorder : 0, nullptr);
  if (count < 3) return std::nullopt;
  simple.indices.resize(count);
  OptimizeOrder(simple);
  return simple;
}

std::string GeometryIdentity() {
  return fmt::format("meshoptimizer={}.{}-{}", MESHOPTIMIZER_VERSION / 1000,
                     MESHOPTIMIZER_VERSION / 10 % 100, BuildIdOf("meshopt_optimizeVertexCache"));
}

}  // namespace galley::worker::mesh
