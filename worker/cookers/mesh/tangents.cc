#include "worker/cookers/mesh/tangents.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "fmt/format.h"
#include "worker/cookers/mesh/geometry.h"
#include "worker/cookers/mesh/vector3.h"

namespace galley::worker::mesh {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Any direction at a right angle to `normal`, for corners to which no triangle gives a direction.
Vector3 AnyPerpendicular(Vector3 normal) {
  const double x = std::abs(normal.x);
  const double y = std::abs(normal.y);
  const double z = std::abs(normal.z);
  const Vector3 axis = x <= y && x <= z ? Vector3{1, 0, 0}
                       : y <= z         ? Vector3{0, 1, 0}
                                        : Vector3{0, 0, 1};
  const Vector3 found = Normalized(axis - normal * Dot(normal, axis));
  return IsZero(found) ? Vector3{1, 0, 0} : found;
}

Vector3 Projected(Vector3 vector, Vector3 normal) {
  return Normalized(vector - normal * Dot(normal, vector));
}

class TangentSpace {
 public:
  TangentSpace(Primitive& primitive, const Stream& texcoords)
      : primitive_(primitive),
        positions_(primitive.Find("POSITION")->stream),
        normals_(primitive.Find("NORMAL")->stream),
        texcoords_(texcoords) {}

  void Generate();

 private:
  // The hand of a triangle. kFlat: its texture coordinates span no area.
  enum class Hand : uint8_t { kLeft = 0, kRight = 1, kFlat = 2 };
  struct Face {
    Hand hand = Hand::kFlat;
    Vector3 tangent;
  };

  void GroupVertices();
  Face FaceOf(size_t triangle) const;
  void Accumulate(size_t triangle, const Face& face);
  Hand HandOf(size_t corner, const Face& face) const;
  void Split(const std::vector<Face>& faces);

  Primitive& primitive_;
  const Stream& positions_;
  const Stream& normals_;
  const Stream& texcoords_;
  std::vector<uint32_t> groups_;              // vertex -> its number; equal vertices have the same
  std::vector<std::array<Vector3, 2>> sums_;  // by group and hand
};

void TangentSpace::GroupVertices() {
  constexpr size_t kWidth = 8;
  std::vector<float> keys(primitive_.vertex_count * kWidth);
  for (size_t i = 0; i < primitive_.vertex_count; ++i) {
    float* key = keys.data() + i * kWidth;
    // Keys are compared by their bytes: -0.0 + 0.0 is 0.0.
    for (size_t c = 0; c < 3; ++c) key[c] = positions_.At(i, c) + 0.0f;
    for (size_t c = 0; c < 3; ++c) key[3 + c] = normals_.At(i, c) + 0.0f;
    for (size_t c = 0; c < 2; ++c) key[6 + c] = texcoords_.At(i, c) + 0.0f;
  }
  groups_ = NumberEqual({{keys.data(), kWidth * sizeof(float)}}, primitive_.vertex_count);
  sums_.resize(*std::ranges::max_element(groups_) + size_t{1});
}

TangentSpace::Face TangentSpace::FaceOf(size_t triangle) const {
  const uint32_t* corner = primitive_.indices.data() + triangle * 3;
  const Vector3 p = VectorAt(positions_, corner[0]);
  const Vector3 edge1 = VectorAt(positions_, corner[1]) - p;
  const Vector3 edge2 = VectorAt(positions_, corner[2]) - p;
  const auto texcoord = [&](size_t i, size_t c) { return double{texcoords_.At(corner[i], c)}; };
  const double u1 = texcoord(1, 0) - texcoord(0, 0);
  const double v1 = texcoord(1, 1) - texcoord(0, 1);
  const double u2 = texcoord(2, 0) - texcoord(0, 0);
  const double v2 = texcoord(2, 1) - texcoord(0, 1);
  const double area = u1 * v2 - u2 * v1;
  const Vector3 tangent = Normalized((edge1 * v2 - edge2 * v1) * (area < 0 ? -1 : 1));
  if (area == 0 || IsZero(tangent)) return Face{};
  return Face{.hand = area > 0 ? Hand::kLeft : Hand::kRight, .tangent = tangent};
}

void TangentSpace::Accumulate(size_t triangle, const Face& face) {
  if (face.hand == Hand::kFlat) return;
  const uint32_t* corner = primitive_.indices.data() + triangle * 3;
  for (size_t i = 0; i < 3; ++i) {
    const Vector3 normal = Normalized(VectorAt(normals_, corner[i]));
    const Vector3 p = VectorAt(positions_, corner[i]);
    const Vector3 next = Projected(VectorAt(positions_, corner[(i + 1) % 3]) - p, normal);
    const Vector3 last = Projected(VectorAt(positions_, corner[(i + 2) % 3]) - p, normal);
    const double angle = ArcCosine(Dot(next, last));
    Vector3& sum = sums_[groups_[corner[i]]][static_cast<size_t>(face.hand)];
    sum = sum + Projected(face.tangent, normal) * angle;
  }
}

// The hand of a triangle at `corner`; a flat triangle takes the hand of its neighbours there.
TangentSpace::Hand TangentSpace::HandOf(size_t corner, const Face& face) const {
  if (face.hand != Hand::kFlat) return face.hand;
  const auto& sums = sums_[groups_[primitive_.indices[corner]]];
  return IsZero(sums[static_cast<size_t>(Hand::kRight)]) &&
                 !IsZero(sums[static_cast<size_t>(Hand::kLeft)])
             ? Hand::kLeft
             : Hand::kRight;
}

void TangentSpace::Split(const std::vector<Face>& faces) {
  std::vector<std::array<uint32_t, 2>> place(primitive_.vertex_count, {kNone, kNone});
  std::vector<uint32_t> kept;
  std::vector<float> tangents;
  for (size_t corner = 0; corner < primitive_.indices.size(); ++corner) {
    const uint32_t vertex = primitive_.indices[corner];
    const auto hand = static_cast<size_t>(HandOf(corner, faces[corner / 3]));
    uint32_t& at = place[vertex][hand];
    if (at == kNone) {
      at = static_cast<uint32_t>(kept.size());
      kept.push_back(vertex);
      Vector3 tangent = Normalized(sums_[groups_[vertex]][hand]);
      if (IsZero(tangent)) tangent = AnyPerpendicular(Normalized(VectorAt(normals_, vertex)));
      const bool is_right = static_cast<Hand>(hand) == Hand::kRight;
      tangents.insert(tangents.end(), {static_cast<float>(tangent.x), static_cast<float>(tangent.y),
                                       static_cast<float>(tangent.z), is_right ? 1.0f : -1.0f});
    }
    primitive_.indices[corner] = at;
  }
  KeepVertices(primitive_, kept);
  primitive_.attributes.push_back(
      {.semantic = "TANGENT", .stream = FromFloats(Shape::kVec4, tangents)});
}

void TangentSpace::Generate() {
  GroupVertices();
  std::vector<Face> faces(primitive_.indices.size() / 3);
  for (size_t i = 0; i < faces.size(); ++i) faces[i] = FaceOf(i);
  for (size_t i = 0; i < faces.size(); ++i) Accumulate(i, faces[i]);
  Split(faces);
}

}  // namespace

double ArcCosine(double cosine) {
  constexpr double kCoefficients[] = {-0.0012624911, 0.0066700901, -0.0170881256, 0.0308918810,
                                      -0.0501743046, 0.0889789874, -0.2145988016, 1.5707963050};
  constexpr double kPi = 3.14159265358979323846;
  const double x = std::min(std::abs(cosine), 1.0);
  double sum = 0;
  for (const double coefficient : kCoefficients) sum = sum * x + coefficient;
  const double angle = std::sqrt(1 - x) * sum;
  return cosine < 0 ? kPi - angle : angle;
}

uint64_t FlatNormalBytes(const Primitive& primitive) {
  uint64_t vertex_bytes = Format{.shape = Shape::kVec3}.element_bytes();
  for (const Attribute& attribute : primitive.attributes)
    vertex_bytes += attribute.stream.format.element_bytes();
  return primitive.indices.size() * vertex_bytes;
}

void GenerateFlatNormals(Primitive& primitive) {
  std::erase_if(primitive.attributes, [](const Attribute& attribute) {
    return attribute.semantic == "NORMAL" || attribute.semantic == "TANGENT";
  });
  const std::vector<uint32_t> corners = primitive.indices;
  KeepVertices(primitive, corners);
  std::iota(primitive.indices.begin(), primitive.indices.end(), 0u);
  const Stream& positions = primitive.Find("POSITION")->stream;
  std::vector<float> normals;
  normals.reserve(primitive.vertex_count * 3);
  for (size_t i = 0; i < primitive.vertex_count; i += 3) {
    const Vector3 p = VectorAt(positions, i);
    Vector3 normal =
        Normalized(Cross(VectorAt(positions, i + 1) - p, VectorAt(positions, i + 2) - p));
    if (IsZero(normal)) normal = {0, 0, 1};
    for (int corner = 0; corner < 3; ++corner) {
      normals.insert(normals.end(), {static_cast<float>(normal.x), static_cast<float>(normal.y),
                                     static_cast<float>(normal.z)});
    }
  }
  primitive.attributes.push_back(
      {.semantic = "NORMAL", .stream = FromFloats(Shape::kVec3, normals)});
}

bool GenerateTangents(Primitive& primitive, uint64_t texcoord) {
  const Attribute* texcoords = primitive.Find(fmt::format("TEXCOORD_{}", texcoord));
  if (texcoords == nullptr) return false;
  TangentSpace(primitive, texcoords->stream).Generate();
  return true;
}

}  // namespace galley::worker::mesh
