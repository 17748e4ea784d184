#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "worker/cookers/mesh/testing/mesh_cooking.h"

namespace galley::worker::mesh {
namespace {

using nlohmann::json;

class LevelsOfDetailTest : public MeshCooking {};

TEST_F(LevelsOfDetailTest, LevelsOfDetailAreWholeFilesWithFewerTriangles) {
  GltfBuilder builder = SkinnedScene();
  const auto context = Run(builder.Glb(), {{"lods", {0.5, 0.2}}, {"lod_error", 1}});
  ASSERT_TRUE(status_.ok()) << status_;
  EXPECT_EQ(context->outputs().size(), 3u);
  const GlbFile whole = ReadGlbFile(context->output(".glb"));
  size_t before = ReadTriangles(whole).triangles.size();
  for (const char* suffix : {".d/lod1.glb", ".d/lod2.glb"}) {
    const GlbFile level = ReadGlbFile(context->output(suffix));
    const size_t triangles = ReadTriangles(level).triangles.size();
    EXPECT_LT(triangles, before);
    EXPECT_GT(triangles, 0u);
    before = triangles;
    EXPECT_EQ(level.json["nodes"], whole.json["nodes"]);
    EXPECT_EQ(level.json["skins"][0]["joints"], whole.json["skins"][0]["joints"]);
    EXPECT_FALSE(level.json.contains("animations"));
  }
}

TEST_F(LevelsOfDetailTest, ALevelOfDetailDoesNotPassItsError) {
  GltfBuilder builder;
  builder.AddMesh(AddSurface(builder, Waves(8, 8)));
  const auto context = Run(builder.Glb(), {{"lods", {0.01}}, {"lod_error", 0}});
  ASSERT_TRUE(status_.ok()) << status_;
  const auto count = [&](const char* suffix) {
    return ReadTriangles(ReadGlbFile(context->output(suffix))).triangles.size();
  };
  EXPECT_GT(count(".d/lod1.glb"), count(".glb") / 2);
}

// Closed, small or thin surfaces, of which simplification likes to leave nothing.
std::vector<Surface> SmallSurfaces() {
  std::vector<Surface> surfaces;
  for (const float thickness : {1.0f, 0.1f, 0.001f}) {
    Surface box;
    box.positions = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    for (size_t i = 2; i < box.positions.size(); i += 3) box.positions[i] *= thickness;
    box.indices = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                   1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
    box.normals.assign(box.positions.size(), 1);
    box.texcoords.assign(box.positions.size() / 3 * 2, 0);
    surfaces.push_back(box);
    Surface tetrahedron = box;
    tetrahedron.indices = {0, 1, 3, 0, 3, 4, 0, 4, 1, 1, 4, 3};
    surfaces.push_back(tetrahedron);
    Surface sheet = box;  // two sides of one square
    sheet.indices = {0, 1, 2, 0, 2, 3, 0, 2, 1, 0, 3, 2};
    surfaces.push_back(sheet);
    Surface tube = Waves(12, 3);
    for (size_t i = 0; i < tube.positions.size(); i += 3) tube.positions[i] *= thickness;
    surfaces.push_back(tube);
  }
  return surfaces;
}

TEST_F(LevelsOfDetailTest, TrianglesNeverRiseFromLevelToLevel) {
  const json settings = {{"lods", {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01}},
                         {"lod_error", 1}};
  const std::vector<Surface> surfaces = SmallSurfaces();
  for (size_t i = 0; i < surfaces.size(); ++i) {
    GltfBuilder builder;
    builder.AddMesh(AddSurface(builder, surfaces[i]));
    const auto context = Run(builder.Glb(), settings);
    ASSERT_TRUE(status_.ok()) << status_;
    size_t before = ReadTriangles(ReadGlbFile(context->output(".glb"))).triangles.size();
    for (size_t level = 1; level <= 12; ++level) {
      const std::string& bytes = context->output(".d/lod" + std::to_string(level) + ".glb");
      const size_t count = ReadTriangles(ReadGlbFile(bytes)).triangles.size();
      EXPECT_LE(count, before) << "surface " << i << ", level " << level;
      EXPECT_GT(count, 0u);
      before = count;
    }
  }
}

TEST_F(LevelsOfDetailTest, LevelsOfDetailDoNotTearWherePrimitivesMeet) {
  const GltfBuilder builder = HalvesScene();
  for (const bool quantize : {false, true}) {
    const auto context =
        Run(builder.Glb(), {{"lods", {0.3}}, {"lod_error", 1}, {"quantize", quantize}});
    ASSERT_TRUE(status_.ok()) << status_;
    const Drawn level = ReadTriangles(ReadGlbFile(context->output(".d/lod1.glb")));
    EXPECT_LT(level.triangles.size(), 150u);
    std::set<std::array<double, 3>> seam[2];
    for (size_t i = 0; i < level.triangles.size(); ++i) {
      for (const Corner& corner : level.triangles[i]) {
        if (std::abs(corner.position[0]) < 1e-3) seam[level.materials[i]].insert(corner.position);
      }
    }
    EXPECT_EQ(seam[0].size(), 11u);
    EXPECT_EQ(seam[0], seam[1]);
  }
}

}  // namespace
}  // namespace galley::worker::mesh
