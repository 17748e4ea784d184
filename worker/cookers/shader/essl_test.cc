#include "worker/cookers/shader/essl.h"

#include "worker/cookers/shader/shader_fixture_for_test.h"
#include "worker/cookers/shader/shader_samples_for_test.h"

namespace galley::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EsslTest : public ShaderTargetTest {};

constexpr const char* kNoStorage = R"(#version 450
layout(location = 0) in vec3 position;
layout(location = 2) out vec3 a;
layout(location = 5) out Block { vec2 b; float c; } block;
layout(set = 1, binding = 2) uniform Frame { mat4 view; } frame;
void main() { a = position; block.b = a.xy; block.c = a.z; gl_Position = frame.view * vec4(a, 1.0); }
)";
constexpr const char* kNoStorageFragment = R"(#version 450
layout(location = 5) in Other { vec2 b; float c; } other;
layout(location = 2) in vec3 named_otherwise;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2D albedo;
void main() { color = texture(albedo, other.b) + vec4(named_otherwise, other.c); }
)";

TEST_F(EsslTest, EveryStageThatAVersionHasIsAcceptedByGlslangValidator) {
  for (const char* version : {"essl-310", "essl-320"}) {
    for (const bool optimize : {false, true}) {
      for (const auto& [stage, source] : {std::pair{"vert", kSampleVertex},
                                          {"frag", kSampleFragment},
                                          {"comp", kSampleCompute}}) {
        const std::string text = Cook(version, stage, source, {{"optimize", optimize}});
        EXPECT_TRUE(Accepts("glslangValidator", {{std::string("a.") + stage, text}})) << text;
      }
    }
  }
  EXPECT_TRUE(Accepts("glslangValidator", {{"a.geom", Cook("essl-320", "geom", kSampleGeometry)}}));
  EXPECT_TRUE(Accepts("glslangValidator", {{"a.vert", Cook("essl-300", "vert", kNoStorage)}}));
}

TEST_F(EsslTest, VertexAndFragmentShadersLinkThoughTheirNamesDiffer) {
  for (const char* version : {"essl-300", "essl-310"}) {
    const std::string vertex = Cook(version, "vert", kNoStorage);
    const std::string fragment = Cook(version, "frag", kNoStorageFragment);
    for (const char* name : {"vec3 io_at2;", "vec2 io_at5;", "float io_at6;"}) {
      EXPECT_THAT(vertex, HasSubstr(name));
      EXPECT_THAT(fragment, HasSubstr(name));
    }
    EXPECT_TRUE(Accepts("glslangValidator -l", {{"a.vert", vertex}, {"a.frag", fragment}}));
  }
}

TEST_F(EsslTest, ConventionsAreThoseOfOpenGl) {
  const std::string text = Cook("essl-310", "vert", kSampleVertex);
  EXPECT_THAT(text, AllOf(HasSubstr("#version 310 es"), HasSubstr("gl_VertexID"),
                          HasSubstr("gl_InstanceID"), HasSubstr("uniform Push push;"),
                          HasSubstr("gl_Position.z = 2.0 * gl_Position.z - gl_Position.w;")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("gl_Position.y = ")), Not(HasSubstr("BaseInstance"))));
}

TEST_F(EsslTest, ClipSpaceCanBeLeftAsItIsForAStageThatFollows) {
  EXPECT_THAT(Cook("essl-320", "vert", kSampleVertex, {{"fix_clip_space", false}}),
              Not(HasSubstr("gl_Position.z")));
  EXPECT_THAT(Cook("essl-320", "geom", kSampleGeometry), HasSubstr("gl_Position.z = 2.0"));
  const std::string control =
      Cook("essl-320", "tesc",
           "#version 450\nlayout(vertices = 3) out;\nvoid main() { gl_TessLevelOuter[0] = 1.0; "
           "gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position; }\n");
  EXPECT_TRUE(Accepts("glslangValidator", {{"a.tesc", control}})) << control;
}

TEST_F(EsslTest, SetsAreFlattenedByTheirStride) {
  const std::string text = Cook("essl-310", "vert", kSampleVertex);
  EXPECT_THAT(text, AllOf(HasSubstr("layout(binding = 0, std140) uniform Frame"),
                          HasSubstr("layout(binding = 8, std140) uniform Object"),
                          HasSubstr("layout(binding = 3, std430) readonly buffer Instances")));
  EXPECT_EQ(Binding("Object_block").at("essl"), (Json{{"name", "Object"}, {"binding", 8}}));
  Cook("essl-310", "vert", kSampleVertex, {{"set_stride", 4}});
  EXPECT_EQ(Binding("Object_block").at("essl").at("binding"), 4);
  EXPECT_EQ(Reflection().at("push_constants").at("essl"), (Json{{"name", "push"}}));
}

TEST_F(EsslTest, TwoThingsAtOnePlaceAreAnErrorThatNamesBoth) {
  EXPECT_THAT(
      Error("essl-310", "vert", kSampleVertex, {{"set_stride", 0}}),
      AllOf(HasSubstr("frame (set 0, binding 0)"), HasSubstr("Object_block (set 1, binding 0)"),
            HasSubstr("uniform buffer binding 0"), HasSubstr("`set_stride`")));
  EXPECT_THAT(
      Error("essl-310", "frag",
            "#version 450\nlayout(binding = 0) uniform sampler2D a[3];\nlayout(binding = 2) "
            "uniform sampler2D b;\nlayout(location = 0) out vec4 c;\nvoid main() { c = "
            "texture(a[1], vec2(0)) + texture(b, vec2(0)); }\n"),
      HasSubstr("both land at texture unit 2"));
}

TEST_F(EsslTest, SeparateImagesAndSamplersAreCombinedByName) {
  const std::string text = Cook("essl-310", "frag", kSampleFragment);
  EXPECT_THAT(text, AllOf(HasSubstr("layout(binding = 0) uniform highp sampler2D albedo_linear;"),
                          HasSubstr("\nuniform highp sampler2D albedo_nearest;"),
                          HasSubstr("layout(binding = 8) uniform highp sampler2DShadow shadow;")));
  const Json image = {{"set", 0}, {"binding", 0}};
  EXPECT_EQ(Reflection().at("combined"), (Json{{{"name", "albedo_linear"},
                                                {"binding", 0},
                                                {"image", image},
                                                {"sampler", {{"set", 0}, {"binding", 1}}}},
                                               {{"name", "albedo_nearest"},
                                                {"binding", nullptr},
                                                {"image", image},
                                                {"sampler", {{"set", 0}, {"binding", 2}}}}}));
  EXPECT_EQ(Binding("albedo").at("essl"), nullptr);
}

TEST_F(EsslTest, Essl300HasNoBindingsAndTheHostGoesByName) {
  EXPECT_THAT(Cook("essl-300", "frag", kNoStorageFragment), Not(HasSubstr("binding")));
  EXPECT_EQ(Binding("albedo").at("essl"), (Json{{"name", "albedo"}, {"binding", nullptr}}));
}

TEST_F(EsslTest, UnusedBindingsAreLeftOutAndSaidToBe) {
  EXPECT_THAT(Cook("essl-310", "frag", kSampleFragment, {{"optimize", false}}),
              Not(HasSubstr("never")));
  EXPECT_EQ(Binding("never").at("used"), false);
  EXPECT_EQ(Binding("never").at("essl"), nullptr);
}

TEST_F(EsslTest, StagesThatAVersionLacksAreErrorsThatSayWhatToDo) {
  EXPECT_THAT(Error("essl-310", "geom", kSampleGeometry),
              AllOf(HasSubstr("essl-310 has no geometry shaders"), HasSubstr("essl-320 has them")));
  EXPECT_THAT(Error("essl-300", "comp", kSampleCompute),
              HasSubstr("essl-300 has no compute shaders: essl-310 and later have them"));
  EXPECT_THAT(Error("essl-310", "tesc", "x"), HasSubstr("tessellation control shaders"));
}

TEST_F(EsslTest, WhatTheVersionCannotSayIsAnError) {
  EXPECT_THAT(Error("essl-310", "frag",
                    "#version 450\nlayout(location = 0) out vec4 c;\nlayout(location = 0) in flat "
                    "double d;\nvoid main() { c = vec4(float(d * 2.0lf)); }\n"),
              HasSubstr("this shader cannot be written as essl-310: "));
  // ESSL has no images that are read and written, but for three formats: found by the check of what
  // spirv-cross wrote.
  EXPECT_THAT(
      Error("essl-310", "comp",
            "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0, rgba8) uniform "
            "image2D i;\nvoid main() { imageStore(i, ivec2(0), imageLoad(i, ivec2(1))); }\n"),
      HasSubstr("essl:"));
}

TEST_F(EsslTest, StrideOutOfRangeIsAnError) {
  EXPECT_THAT(Error("essl-310", "frag", kSampleFragment, {{"set_stride", -1}}),
              HasSubstr("set_stride is -1; expected 0 to 1024"));
}

}  // namespace
}  // namespace galley::worker
