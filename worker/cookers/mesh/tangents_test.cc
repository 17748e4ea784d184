#include "worker/cookers/mesh/tangents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "worker/cookers/mesh/testing/mesh_cooking.h"

namespace galley::worker::mesh {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ArcCosineTest, IsCloseToTheTrueOne) {
  for (int i = -1000; i <= 1000; ++i)
    EXPECT_NEAR(ArcCosine(i / 1000.0), std::acos(i / 1000.0), 3e-8) << i;
}

class TangentsTest : public MeshCooking {
 protected:
  // A scene with a normal map on the texture coordinate set `texcoord`.
  static GltfBuilder Mapped(const Surface& surface, int texcoord = 0) {
    GltfBuilder builder;
    json primitive = AddSurface(builder, surface);
    primitive["material"] = 0;
    builder.AddMesh(primitive);
    builder.json["images"] = json::parse(R"([{"uri": "n.png"}])");
    builder.json["textures"] = json::parse(R"([{"source": 0}])");
    builder.json["materials"] = json::parse(R"([{"normalTexture": {"index": 0}}])");
    builder.json["materials"][0]["normalTexture"]["texCoord"] = texcoord;
    return builder;
  }
  Drawn CookFloat(const GltfBuilder& builder) {
    return ReadTriangles(Cook(builder.Glb(), {{"quantize", false}}));
  }
};

TEST_F(TangentsTest, PointWhereUGrowsAndTheBitangentUpTheImage) {
  const Drawn drawn = CookFloat(Mapped(Cube()));
  ASSERT_EQ(drawn.triangles.size(), 12u);
  for (const Triangle& triangle : drawn.triangles) {
    for (size_t i = 0; i < 3; ++i) {
      const std::vector<double>& tangent = triangle[i].attributes.at("TANGENT");
      const std::vector<double>& normal = triangle[i].attributes.at("NORMAL");
      // From corner i to the next: the change of position is du * T - dv * B.
      const auto& next = triangle[(i + 1) % 3];
      double along_tangent = 0;
      double along_bitangent = 0;
      for (size_t axis = 0; axis < 3; ++axis) {
        const double step = next.position[axis] - triangle[i].position[axis];
        const size_t b = (axis + 1) % 3;
        const size_t c = (axis + 2) % 3;
        const double bitangent = (normal[b] * tangent[c] - normal[c] * tangent[b]) * tangent[3];
        along_tangent += step * tangent[axis];
        along_bitangent += step * bitangent;
      }
      const auto texcoord = [&](const Corner& corner, size_t k) {
        return corner.attributes.at("TEXCOORD_0")[k];
      };
      EXPECT_NEAR(along_tangent, 2 * (texcoord(next, 0) - texcoord(triangle[i], 0)), 1e-5);
      EXPECT_NEAR(along_bitangent, -2 * (texcoord(next, 1) - texcoord(triangle[i], 1)), 1e-5);
    }
  }
}

TEST_F(TangentsTest, AVertexUsedInBothHandsIsSplit) {
  // Two triangles that meet in the edge x = 0, where the texture is mirrored.
  Surface mirrored;
  mirrored.positions = {0, 0, 0, 0, 1, 0, 1, 0, 0, -1, 0, 0};
  mirrored.normals = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1};
  mirrored.texcoords = {0, 1, 0, 0, 1, 1, 1, 1};
  mirrored.indices = {0, 2, 1, 0, 1, 3};
  GltfBuilder builder = Mapped(mirrored);
  const auto context = Run(builder.Glb(), {{"quantize", false}});
  ASSERT_TRUE(status_.ok()) << status_;
  EXPECT_EQ(std::get<double>(context->tags().at("vertices")), 6);
  for (const Triangle& triangle : ReadTriangles(ReadGlbFile(context->output(".glb"))).triangles) {
    const bool is_right =
        triangle[0].position[0] + triangle[1].position[0] + triangle[2].position[0] > 0;
    for (const Corner& corner : triangle) {
      EXPECT_THAT(corner.attributes.at("TANGENT"),
                  ElementsAre(is_right ? 1 : -1, 0, 0, is_right ? 1 : -1));
    }
  }
}

TEST_F(TangentsTest, FollowASmoothSurface) {
  for (const Triangle& triangle : CookFloat(Mapped(Waves(20, 20))).triangles) {
    for (const Corner& corner : triangle) {
      const std::vector<double>& tangent = corner.attributes.at("TANGENT");
      const std::vector<double>& normal = corner.attributes.at("NORMAL");
      EXPECT_NEAR(tangent[0] * normal[0] + tangent[1] * normal[1] + tangent[2] * normal[2], 0,
                  1e-5);
      EXPECT_GT(tangent[0], 0.3);
      EXPECT_EQ(tangent[3], 1);
    }
  }
}

TEST_F(TangentsTest, AreSharedWhereOneZeroIsNegative) {
  // Two triangles that are bent at the edge x = 0, with vertices of their own.
  Surface bent;
  bent.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0, -0.0f, 0, 0, 0, 1, -0.0f, -1, 0, 1};
  bent.normals = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, -0.0f, 1, 0, 0, 1, 0, 0, 1};
  bent.texcoords = {0, 0, 1, 0, 0, 1, 0, 0, 0, 1, -1, 0.5f};
  bent.indices = {0, 1, 2, 3, 4, 5};
  const Drawn drawn = CookFloat(Mapped(bent));
  std::map<std::array<double, 3>, std::set<std::vector<double>>> tangents;
  for (const Triangle& triangle : drawn.triangles) {
    for (const Corner& corner : triangle)
      tangents[corner.position].insert(corner.attributes.at("TANGENT"));
  }
  EXPECT_EQ(tangents.size(), 4u);
  for (const auto& [position, found] : tangents) EXPECT_EQ(found.size(), 1u);
}

TEST_F(TangentsTest, FlatTextureCoordinatesStillGiveUnitTangents) {
  Surface cube = Cube();
  for (float& texcoord : cube.texcoords) texcoord = 0.5f;
  for (const Triangle& triangle : CookFloat(Mapped(cube)).triangles) {
    for (const Corner& corner : triangle) {
      const std::vector<double>& t = corner.attributes.at("TANGENT");
      EXPECT_NEAR(t[0] * t[0] + t[1] * t[1] + t[2] * t[2], 1, 1e-6);
    }
  }
}

TEST_F(TangentsTest, NormalsAreMadeFlatWhereThereAreNone) {
  GltfBuilder builder = Mapped(Cube());
  builder.json["meshes"][0]["primitives"][0]["attributes"].erase("NORMAL");
  const Drawn expected = ReadTriangles(ReadGlbFile(Mapped(Cube()).Glb()));
  EXPECT_EQ(Compare(expected, CookFloat(builder), {.position = 0, .attribute = 1e-6}), "");
}

TEST_F(TangentsTest, FlatNormalsAreCountedAsMemory) {
  Surface surface = Cube();
  for (int i = 0; i < 10'000; ++i) surface.indices.insert(surface.indices.end(), {0, 1, 2});
  GltfBuilder builder = Mapped(surface);
  json& primitive = builder.json["meshes"][0]["primitives"][0];
  primitive["attributes"].erase("NORMAL");
  // At 1,220 bytes a vertex, 30,036 corners take 37 MB.
  primitive["targets"] =
      json::array_t(100, json({{"POSITION", builder.AddFloats("VEC3", surface.positions, true)}}));
  FakeCookContext context(cooker_->description(), "/Game/m/a.glb", builder.Glb());
  context.set_memory_bytes_max(uint64_t{64} << 20);
  auto loaded = cooker_->Load(context);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const absl::Status status = cooker_->Cook(context, **loaded);
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/meshes/0/primitives/0: not enough"));
}

TEST_F(TangentsTest, AreMadeOnlyForANormalMapThatHasCoordinates) {
  GltfBuilder plain = Mapped(Cube());
  plain.json["materials"] = json::parse(R"([{"emissiveTexture": {"index": 0}}])");
  EXPECT_FALSE(CookFloat(plain).triangles[0][0].attributes.contains("TANGENT"));
  GltfBuilder without_image = Mapped(Cube());
  without_image.json["textures"] = json::parse("[{}]");
  EXPECT_FALSE(CookFloat(without_image).triangles[0][0].attributes.contains("TANGENT"));
  const auto context = Run(Mapped(Cube(), 3).Glb());
  EXPECT_THAT(context->warnings(), ElementsAre(HasSubstr("it has no TEXCOORD_3")));
  GltfBuilder given = Mapped(Cube());
  std::vector<float> tangents;
  for (int i = 0; i < 24; ++i) tangents.insert(tangents.end(), {0, 0.6f, 0.8f, -1});
  given.json["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] =
      given.AddFloats("VEC4", tangents);
  ExpectSame(given, {.position = 3.1e-5, .attribute = 0.011});
}

}  // namespace
}  // namespace galley::worker::mesh
