#include "worker/cookers/shader/msl.h"

#include "worker/cookers/shader/shader_fixture_for_test.h"
#include "worker/cookers/shader/shader_samples_for_test.h"

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
  std::string many =
      "#version 450\nlayout(location = 0) out vec4 c;\nlayout(binding = 0) uniform U "
      "{ vec4 v; } u[26];\nvoid main() { c = u[25].v; }\n";
  EXPECT_THAT(Error("msl-2.1", "frag", many), HasSubstr("the shader has 26 buffers"));
}

}  // namespace
}  // namespace galley::worker
