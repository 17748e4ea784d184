#include "worker/cookers/shader/msl.h"

#include "worker/cookers/shader/testing/shader_fixture.h"
#include "worker/cookers/shader/testing/shader_samples.h"

namespace galley::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class MslTest : public ShaderTargetTest {};

TEST_F(MslTest, IndicesFollowSetsAndBindingsAndAreRecorded) {
  const std::string text = Cook("msl-2.1", "vert", kSampleVertex);
  EXPECT_THAT(text, AllOf(HasSubstr("constant Push& push [[buffer(0)]]"),
                          HasSubstr("constant Frame& frame [[buffer(1)]]"),
                          HasSubstr("const device Instances& instances [[buffer(2)]]"),
                          HasSubstr("constant Object& Object_block [[buffer(3)]]")));
  EXPECT_EQ(Binding("frame").at("msl"), (Json{{"buffer", 1}}));
  EXPECT_EQ(Binding("Object_block").at("msl"), (Json{{"buffer", 3}}));
  EXPECT_EQ(Reflection().at("push_constants").at("msl"), (Json{{"buffer", 0}}));
  EXPECT_EQ(Reflection().at("entry_point"), "main0");
  EXPECT_EQ(Reflection().at("buffer_sizes"), nullptr);
}

TEST_F(MslTest, TexturesAndSamplersAreCountedEachAndUnusedOnesKeepTheirPlace) {
  const std::string text = Cook("msl-2.0", "frag", kSampleFragment);
  EXPECT_THAT(text, AllOf(HasSubstr("texture2d<float> albedo [[texture(0)]]"),
                          HasSubstr("sampler linear [[sampler(0)]]"),
                          HasSubstr("depth2d<float> shadow [[texture(1)]]"),
                          HasSubstr("sampler shadowSmplr [[sampler(2)]]")));
  EXPECT_EQ(Binding("shadow").at("msl"), (Json{{"texture", 1}, {"sampler", 2}}));
  EXPECT_EQ(Binding("never").at("msl"), nullptr);
}

TEST_F(MslTest, ConventionsAreThoseOfMetal) {
  EXPECT_THAT(Cook("msl-2.4", "vert", kSampleVertex),
              AllOf(HasSubstr("vertex main0_out main0("),
                    HasSubstr("out.gl_Position.y = -(out.gl_Position.y)"),
                    HasSubstr("[[user(locn0)]]"), HasSubstr("[[attribute(1)]]")));
  EXPECT_THAT(Cook("msl-2.4", "vert", kSampleVertex, {{"fix_clip_space", false}}),
              testing::Not(HasSubstr("gl_Position.y")));
  EXPECT_THAT(Cook("msl-2.1", "comp", kSampleCompute), HasSubstr("kernel void main0("));
  EXPECT_EQ(Binding("counts").at("msl"), (Json{{"buffer", 0}, {"texture", 0}}));
}

TEST_F(MslTest, LengthOfARuntimeArrayNeedsTheSizesOfBuffers) {
  EXPECT_THAT(Cook("msl-2.1", "comp",
                   "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer "
                   "B { uint n; float x[]; };\nvoid main() { n = uint(x.length()); }\n"),
              HasSubstr("[[buffer(25)]]"));
  EXPECT_EQ(Reflection().at("buffer_sizes"), 25);
}

TEST_F(MslTest, StagesThatMetalLacksAreErrorsThatSayWhatToDo) {
  EXPECT_THAT(Error("msl-2.1", "geom", kSampleGeometry),
              AllOf(HasSubstr("msl-2.1 has no geometry shaders"), HasSubstr("vertex or compute")));
  EXPECT_THAT(Error("msl-2.1", "tesc", "x"),
              AllOf(HasSubstr("tessellation control shaders"), HasSubstr("compute kernel")));
  EXPECT_THAT(Error("msl-2.1", "tese", "x"), HasSubstr("tessellation evaluation shaders"));
}

TEST_F(MslTest, WhatMetalCannotSayIsAnError) {
  EXPECT_THAT(Error("msl-2.1", "frag",
                    "#version 450\nlayout(location = 0) out vec4 c;\nlayout(location = 0) in flat "
                    "double d;\nvoid main() { c = vec4(float(d * 2.0lf)); }\n"),
              HasSubstr("this shader cannot be written as msl-2.1: Metal has no double"));
  EXPECT_THAT(Error("msl-2.4", "vert",
                    "#version 450\n#extension GL_EXT_multiview : require\nvoid main() { "
                    "gl_Position = vec4(gl_ViewIndex); }\n"),
              HasSubstr("gl_ViewIndex (GL_EXT_multiview), which only SPIR-V targets take"));
}

TEST_F(MslTest, MoreThanMetalsTablesHoldIsAnError) {
  std::string many =
      "#version 450\nlayout(location = 0) out vec4 c;\nlayout(binding = 0) uniform U "
      "{ vec4 v; } u[26];\nvoid main() { c = u[25].v; }\n";
  EXPECT_THAT(Error("msl-2.1", "frag", many), HasSubstr("the shader has 26 buffers"));
  const auto textures = [](const std::string& type, int count) {
    const std::string read = type == "texture2D" ? "sampler2D(t[0], s)" : "t[0]";
    return "#version 450\nlayout(location = 0) out vec4 c;\nlayout(binding = 0) uniform " + type +
           " t[" + std::to_string(count) + "];\nlayout(binding = 1) uniform sampler s;\nvoid " +
           "main() { c = texture(" + read + ", vec2(0)); }\n";
  };
  Cook("msl-2.1", "frag", textures("texture2D", 128));
  EXPECT_THAT(Error("msl-2.1", "frag", textures("texture2D", 129)),
              HasSubstr("the shader has 129 textures"));
  EXPECT_THAT(Error("msl-2.1", "frag", textures("sampler2D", 16)),
              HasSubstr("the shader has 17 samplers"));
}

// A fragment shader that reads everything that is declared.
std::string Reading(const std::string& declared, const std::string& read) {
  return "#version 450\nlayout(location = 0) out vec4 c;\n" + declared +
         "\nvoid main() { c = " + read + "; }\n";
}

TEST_F(MslTest, OnlySingleBuffersOfOneKindShareAPlace) {
  const std::string samplers =
      "layout(binding = 1) uniform sampler2D a; layout(binding = 1) uniform usampler2D b;";
  EXPECT_THAT(Error("msl-2.1", "frag",
                    Reading(samplers, "texture(a, vec2(0)) + vec4(texture(b, vec2(0)))")),
              HasSubstr("a and b are both at set 0, binding 1"));
  for (const auto& [declared, read] :
       {std::pair{"uniform A { vec4 v; } a; layout(binding = 1) readonly buffer B { vec4 v; } b;",
                  "a.v + b.v"},
        {"readonly buffer A { vec4 v; } a; layout(binding = 1) buffer B { vec4 v; } b;",
         "a.v + b.v"},
        {"uniform A { vec4 v; } a[2]; layout(binding = 1) uniform B { vec4 v; } b;",
         "a[1].v + b.v"}}) {
    EXPECT_THAT(
        Error("msl-2.1", "frag", Reading(std::string("layout(binding = 1) ") + declared, read)),
        HasSubstr("a and b are both at set 0, binding 1"));
  }
  // An image or sampler is not used, or no index is wanted twice, or the buffer is read in two
  // ways.
  Cook("msl-2.1", "frag", Reading(samplers, "texture(a, vec2(0))"));
  Cook("msl-2.1", "frag",
       Reading("layout(binding = 1) uniform texture2D a; layout(binding = 1) uniform sampler b;",
               "texture(sampler2D(a, b), vec2(0))"));
  EXPECT_THAT(Cook("msl-2.1", "frag",
                   Reading("layout(binding = 0) uniform A { vec4 v; } a; layout(binding = 0) "
                           "uniform B { ivec4 v; } b;",
                           "a.v + vec4(b.v)")),
              HasSubstr("constant void* spvBufferAliasSet0Binding0 [[buffer(0)]]"));
}

TEST_F(MslTest, ArraysOfImagesWithAtomicsAreErrors) {
  const std::string text = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 3, r32i) ";
  EXPECT_THAT(Error("msl-2.1", "comp",
                    text + "uniform iimage2D counts[2];\nvoid main() { "
                           "imageAtomicAdd(counts[1], ivec2(0), 1); }\n"),
              HasSubstr("counts (set 0, binding 3) is an array of r32i images"));
  // Without atomics there is no buffer behind the image.
  EXPECT_THAT(Cook("msl-2.1", "comp",
                   text + "uniform writeonly iimage2D counts[2];\nvoid main() { "
                          "imageStore(counts[1], ivec2(0), ivec4(1)); }\n"),
              HasSubstr("array<texture2d<int, access::write>, 2> counts"));
}

}  // namespace
}  // namespace galley::worker
