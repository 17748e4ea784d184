#include "director/cli/init/shader_source.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::init {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Judge(const std::string& text) { return WhyNoVulkanGlsl(WithoutComments(text)); }

TEST(ShaderSourceTest, VulkanGlslIsTaken) {
  for (const char* text : {
           "#version 450\nvoid main() {}",
           "#version 310 es\nprecision highp float;\nvoid main() {}",
           "#version 450\nlayout(set = 0, binding = 1) uniform sampler2D t;\nvoid main() {}",
           "#version 450\nlayout(binding = 0) uniform Frame { mat4 view; } frame;\nvoid main() {}",
           "#version 450\nlayout(push_constant) uniform P { vec4 c; } p;\nvoid main() {}",
           "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 c;\n"
           "void f(in vec2 a, out vec2 b) { b = a; }\nvoid main() {}",
           "#version 450\nout gl_PerVertex { vec4 gl_Position; };\nvoid main() {}",
           "#version 450\nlayout(local_size_x = 8) in;\nvoid main() {}",
           "#version 450\n// varying vec2 uv;\n/* attribute */ void main() {}",
           "#version 450\n#ifdef VULKAN\nlayout(binding = 0) uniform sampler2D t;\n#else\n"
           "uniform sampler2D t;\n#endif\nvoid main() {}",
           "#version 450\n#if USE_OLD\nuniform mat4 m;\n#endif\nvoid main() {}",
           "#version 450\n#define BIND(x) layout(binding = x)\nBIND(0) uniform sampler2D t;\n"
           "void main() {}",
           "#version 450\nlayout(location = 0) out Data { vec2 uv; } data;\nvoid main() {}",
           "#version 460\nlayout(binding = 0) uniform texture2D t[];\nvoid main() {}",
           "#version 450\nlayout(binding = 0) uniform cbuffer { vec4 c; } cb;\nvoid main() {}",
           "#version 450\n#define float4 vec4\nlayout(location = 0) out vec4 SV_Target;\n"
           "void main() { SV_Target = float4(1); }",
       })
    EXPECT_EQ(Judge(text), "") << text;
}

TEST(ShaderSourceTest, OtherGlslIsNot) {
  EXPECT_THAT(Judge("#version 120\nvoid main() {}"), HasSubstr("120"));
  EXPECT_THAT(Judge("#version 100\nvoid main() {}"), HasSubstr("GLSL ES"));
  EXPECT_THAT(Judge("void main() {}"), HasSubstr("without #version"));
  EXPECT_THAT(Judge("#version 450\nfloat f() { return 1; }"), HasSubstr("no main()"));
  EXPECT_THAT(Judge("#version 330\nuniform sampler2D t;\nvoid main() {}"),
              HasSubstr("has no layout(binding)"));
  EXPECT_THAT(Judge("#version 330\nuniform vec4 color;\nvoid main() {}"),
              HasSubstr("is in no block"));
  EXPECT_THAT(Judge("#version 330\nin vec2 uv;\nvoid main() {}"),
              HasSubstr("has no layout(location)"));
  EXPECT_THAT(Judge("#version 330\nvoid main() { gl_FragColor = vec4(1); }"),
              HasSubstr("words that Vulkan has not"));
  EXPECT_THAT(Judge("cbuffer Frame { float4x4 view; };\nfloat4 main() : SV_Target { return 1; }"),
              HasSubstr("HLSL"));
  EXPECT_EQ(Judge(" \n"), "empty");
}

TEST(ShaderSourceTest, IncludesAreFoundOutsideOfComments) {
  EXPECT_THAT(IncludesOf(WithoutComments("#include \"a.glsl\"\n// #include \"b.glsl\"\n"
                                         " #  include <c/d.glsl>\n")),
              ElementsAre("a.glsl", "c/d.glsl"));
}

}  // namespace
}  // namespace galley::init
