// Looks at shaders: whether the compiler takes a text, and, in a few words, why not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/shader/shader_cooker.h"
#include "worker/cookers/source_looker.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ShaderLookTest : public testing::Test {
 protected:
  absl::Status LookAt(const std::string& stage, const std::string& text,
                      LookDepth depth = LookDepth::kWhole) {
    context_ = std::make_unique<FakeCookContext>(cooker_->description(), "/Game/a." + stage, text);
    context_->SetPlatform("shader", "spirv-1.5");
    look_ = {};
    return dynamic_cast<SourceLooker&>(*cooker_).Look(*context_, depth, look_);
  }
  std::string FlawOf(const std::string& text) {
    const absl::Status status = LookAt("frag", text);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status << "\n" << text;
    return look_.flaw;
  }

  std::unique_ptr<Cooker> cooker_ = CreateShaderCooker();
  std::unique_ptr<FakeCookContext> context_;
  FileLook look_;
};

TEST_F(ShaderLookTest, VulkanGlslIsTaken) {
  for (const auto& [stage, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"frag", "#version 450\nvoid main() {}"},
           {"frag", "#version 310 es\nprecision highp float;\nvoid main() {}"},
           {"frag",
            "#version 450\nlayout(set = 0, binding = 1) uniform sampler2D t;\nvoid main() {}"},
           {"frag",
            "#version 450\nlayout(binding = 0) uniform Frame { mat4 view; } frame;\nvoid main() "
            "{}"},
           {"frag", "#version 450\nlayout(push_constant) uniform P { vec4 c; } p;\nvoid main() {}"},
           {"frag",
            "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 c;\n"
            "void f(in vec2 a, out vec2 b) { b = a; }\nvoid main() {}"},
           {"vert", "#version 450\nout gl_PerVertex { vec4 gl_Position; };\nvoid main() {}"},
           {"comp", "#version 450\nlayout(local_size_x = 8) in;\nvoid main() {}"},
           {"frag", "#version 450\n// varying vec2 uv;\n/* attribute */ void main() {}"},
           {"frag",
            "#version 450\n#ifdef VULKAN\nlayout(binding = 0) uniform sampler2D t;\n#else\n"
            "uniform sampler2D t;\n#endif\nvoid main() {}"},
           {"frag", "#version 450\n#if USE_OLD\nuniform mat4 m;\n#endif\nvoid main() {}"},
           {"frag",
            "#version 450\n#define BIND(x) layout(binding = x)\nBIND(0) uniform sampler2D t;\n"
            "void main() {}"},
           {"vert",
            "#version 450\nlayout(location = 0) out Data { vec2 uv; } data;\nvoid main() {}"},
           {"frag", "#version 460\nlayout(binding = 0) uniform texture2D t[];\nvoid main() {}"},
           {"frag",
            "#version 450\nlayout(binding = 0) uniform cbuffer { vec4 c; } cb;\nvoid main() {}"},
           {"frag",
            "#version 450\n#define float4 vec4\nlayout(location = 0) out vec4 SV_Target;\n"
            "void main() { SV_Target = float4(1); }"},
       }) {
    const absl::Status status = LookAt(stage, text);
    EXPECT_TRUE(status.ok()) << status << "\n" << text;
    EXPECT_EQ(look_.flaw, "") << text;
  }
}

TEST_F(ShaderLookTest, OtherGlslIsNot) {
  EXPECT_THAT(FlawOf("#version 120\nvoid main() {}"), HasSubstr("120"));
  EXPECT_THAT(FlawOf("#version 100\nvoid main() {}"), HasSubstr("GLSL ES"));
  EXPECT_THAT(FlawOf("void main() {}"), HasSubstr("without #version"));
  EXPECT_THAT(FlawOf("#version 450\nfloat f() { return 1; }"), HasSubstr("no main()"));
  EXPECT_THAT(FlawOf("#version 330\nuniform sampler2D t;\nvoid main() {}"),
              HasSubstr("has no layout(binding)"));
  EXPECT_THAT(FlawOf("#version 330\nuniform vec4 color;\nvoid main() {}"),
              HasSubstr("is in no block"));
  EXPECT_THAT(FlawOf("#version 330\nin vec2 uv;\nvoid main() {}"),
              HasSubstr("has no layout(location)"));
  EXPECT_THAT(FlawOf("#version 450\nvoid main() { gl_FragColor = vec4(1); }"),
              HasSubstr("words that Vulkan has not"));
  EXPECT_THAT(FlawOf("cbuffer Frame { float4x4 view; };\nfloat4 main() : SV_Target { return 1; }"),
              HasSubstr("HLSL"));
  EXPECT_EQ(FlawOf(" \n"), "empty");
}

TEST_F(ShaderLookTest, MoreFlawsHaveWords) {
  EXPECT_EQ(FlawOf(""), "empty");
  EXPECT_EQ(FlawOf("#version 450\n#include \"absent.glsl\"\nvoid main() {}"),
            "a shader that includes what is not in the tree");
  EXPECT_EQ(FlawOf("#version 330 compatibility\nvarying vec2 uv;\nvoid main() {}"),
            "GLSL of OpenGL's compatibility profile");
  EXPECT_THAT(FlawOf("#version 450\n#extension GL_EXT_bfloat16 : require\nvoid main() {}"),
              HasSubstr("an extension that the cooker's compiler does not know"));
  EXPECT_THAT(FlawOf("#version 450\nlayout(binding = 0) uniform sampler2D t;\n"
                     "void main() { vec4 c = texture2D(t, vec2(0)); }"),
              HasSubstr("words that Vulkan has not"));
  EXPECT_EQ(FlawOf("#version 450\nvoid main() { int x = ; }"),
            "no Vulkan GLSL: the shader cooker refuses it");
}

TEST_F(ShaderLookTest, LateSpirvIsTold) {
  ASSERT_TRUE(LookAt("frag", "#version 450\nvoid main() {}").ok());
  EXPECT_FALSE(std::get<bool>(context_->tags().at("late_spirv")));
  const absl::Status status =
      LookAt("frag",
             "#version 460\n#extension GL_EXT_ray_query : require\n"
             "layout(binding = 0) uniform accelerationStructureEXT scene;\n"
             "layout(location = 0) out float hit;\nvoid main() {\n  rayQueryEXT ray;\n"
             "  rayQueryInitializeEXT(ray, scene, 0, 255, vec3(0), 0.0, vec3(1), 9.0);\n"
             "  hit = rayQueryProceedEXT(ray) ? 1.0 : 0.0;\n}\n");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(std::get<bool>(context_->tags().at("late_spirv")));
}

TEST_F(ShaderLookTest, IncludesAreFoundOutsideOfComments) {
  ASSERT_TRUE(LookAt("frag",
                     "#include \"a.glsl\"\n// #include \"b.glsl\"\n #  include <c/d.glsl>\n"
                     "/* #include \"e.glsl\" */ float f;\n#include \"../up-1/2d.glsl\" // f\n"
                     "#include none\n#include \"open\n",
                     LookDepth::kOutline)
                  .ok());
  EXPECT_THAT(look_.includes, ElementsAre("a.glsl", "c/d.glsl", "../up-1/2d.glsl"));
  EXPECT_FALSE(std::get<bool>(context_->tags().at("main")));
}

TEST_F(ShaderLookTest, AnOutlineCompilesNothing) {
  ASSERT_TRUE(LookAt("frag", "void main() { this is no GLSL }", LookDepth::kOutline).ok());
  EXPECT_TRUE(std::get<bool>(context_->tags().at("main")));
  EXPECT_EQ(look_.kind, "text");
  ASSERT_TRUE(LookAt("h", "float4 main() : SV_Target {}", LookDepth::kOutline).ok());
  EXPECT_EQ(look_.kind, "HLSL");
}

}  // namespace
}  // namespace galley::worker
