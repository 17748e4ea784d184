// MeshCooking: the fixture of tests that cook a mesh.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/mesh/mesh_cooker.h"
#include "worker/cookers/mesh/testing/sample_meshes.h"
#include "worker/cookers/mesh/testing/triangle_reader.h"

namespace galley::worker::mesh {

class MeshCooking : public testing::Test {
 protected:
  using Files = std::map<std::string, std::string>;

  // The cube after `change` of its JSON.
  template <typename Change>
  static std::string Changed(const Change& change) {
    GltfBuilder builder = CubeScene();
    change(builder.json);
    return builder.Glb();
  }
  std::unique_ptr<FakeCookContext> Run(const std::string& source,
                                       const nlohmann::json& settings = nlohmann::json::object(),
                                       const Files& files = {}) {
    auto context = std::make_unique<FakeCookContext>(cooker_->description(), "/Game/m/a.glb",
                                                     source, settings);
    for (const auto& [path, bytes] : files) context->AddFile(path, bytes);
    status_ = LoadAndCook(*cooker_, *context);
    return context;
  }
  std::string CookBytes(const std::string& source,
                        const nlohmann::json& settings = nlohmann::json::object(),
                        const Files& files = {}) {
    const auto context = Run(source, settings, files);
    EXPECT_TRUE(status_.ok()) << status_;
    return status_.ok() ? context->output(".glb") : std::string();
  }
  GlbFile Cook(const std::string& source, const nlohmann::json& settings = nlohmann::json::object(),
               const Files& files = {}) {
    return ReadGlbFile(CookBytes(source, settings, files));
  }
  // The message of a verdict on the input, else the text of the whole status.
  std::string ErrorOf(const std::string& source,
                      const nlohmann::json& settings = nlohmann::json::object()) {
    Run(source, settings);
    return absl::IsInvalidArgument(status_) ? std::string(status_.message()) : status_.ToString();
  }
  // Expects that the drawing of `source` stays the same to within `tolerance`, quantised and not,
  // and that cooking the output again does not change it.
  void ExpectSame(const GltfBuilder& source, const Tolerance& tolerance) {
    const Drawn expected = ReadTriangles(ReadGlbFile(source.Glb()));
    EXPECT_FALSE(expected.triangles.empty());
    EXPECT_EQ(Compare(expected, ReadTriangles(Cook(source.Glb(), {{"quantize", false}})), {}), "");
    const std::string once = CookBytes(source.Glb());
    EXPECT_EQ(Compare(expected, ReadTriangles(ReadGlbFile(once)), tolerance), "");
    const std::string twice = CookBytes(once);
    EXPECT_EQ(Compare(ReadTriangles(ReadGlbFile(once)), ReadTriangles(ReadGlbFile(twice)), {}), "");
  }

  std::unique_ptr<Cooker> cooker_ = CreateMeshCooker();
  absl::Status status_;
};

}  // namespace galley::worker::mesh
