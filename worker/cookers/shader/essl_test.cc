#include "worker/cookers/shader/essl.h"

#include <map>
#include <regex>
#include <sstream>

#include "worker/cookers/shader/testing/shader_fixture.h"
#include "worker/cookers/shader/testing/shader_samples.h"

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

// The variables that a text declares as `in` or `out`: name -> "layout type[dimensions]".
// Interpolation and precision are left out, since they need not agree.
std::map<std::string, std::string> Declared(const std::string& text, const std::string& storage) {
  static const std::regex kDeclaration(
      R"(^(layout\([^)]*\) )?((?:flat|smooth|centroid|highp|mediump|lowp) )*(in|out) )"
      R"((?:(?:highp|mediump|lowp) )?(\w+) (\w+)((?:\[\d+\])*);$)");
  std::map<std::string, std::string> declared;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, kDeclaration) && match[3] == storage)
      declared[match[5]] = match[1].str() + match[4].str() + match[6].str();
  }
  return declared;
}

// Vertex and fragment shaders, by what passes between them. Both compute with all of it.
struct Pair {
  const char* outputs;
  const char* writes;
  const char* inputs;
  const char* reads;
};
constexpr Pair kPairs[] = {
    // Names differ.
    {"layout(location = 2) out vec3 a;", "a = position.xyz;",
     "layout(location = 2) in vec3 named_otherwise;", "color.xyz = named_otherwise;"},
    // A block whose members follow each other, against one whose members have their own locations.
    {"layout(location = 5) out Block { vec2 b; float c; } block;",
     "block.b = position.xy; block.c = 1.0;",
     "layout(location = 6) in Other { float q; layout(location = 5) vec2 r; } other;",
     "color = vec4(other.r, other.q, 1.0);"},
    // A block against plain variables, and two blocks.
    {"layout(location = 5) out Block { vec2 b; float c; } block; layout(location = 9) out More { "
     "vec4 d; } more;",
     "block.b = position.xy; block.c = 1.0; more.d = position;",
     "layout(location = 6) in float c; layout(location = 5) in vec2 b; layout(location = 9) in "
     "vec4 d;",
     "color = vec4(b, c, 1.0) + d;"},
    // Matrices and arrays take many locations.
    {"layout(location = 1) out Block { mat3 m[2]; vec4 after; } block;",
     "block.m[0] = mat3(position.x); block.m[1] = mat3(position.y); block.after = position;",
     "layout(location = 1) in mat3 turns[2]; layout(location = 7) in vec4 last;",
     "color = vec4(turns[1] * turns[0][0], 1.0) + last;"},
    // Parts of locations.
    {"layout(location = 10, component = 0) out vec2 a; layout(location = 10, component = 2) out "
     "vec2 b;",
     "a = position.xy; b = position.zw;",
     "layout(location = 10, component = 2) in vec2 a; layout(location = 10) in vec2 b;",
     "color = vec4(a, b);"},
    // Integers.
    {"layout(location = 3) flat out ivec3 a;", "a = ivec3(position.xyz);",
     "layout(location = 3) flat in ivec3 b;", "color = vec4(b, 1);"},
};

TEST_F(EsslTest, WhatGoesBetweenStagesAgreesInNameTypeAndLocationThoughTheSourcesNamesDiffer) {
  for (const Pair& pair : kPairs) {
    for (const char* version : {"essl-300", "essl-310"}) {
      const std::string vertex = Cook(
          version, "vert",
          std::string("#version 450\nlayout(location = 0) in vec4 position;\n") + pair.outputs +
              "\nvoid main() { gl_Position = position; " + pair.writes + " }\n");
      const std::string fragment =
          Cook(version, "frag",
               std::string("#version 450\nlayout(location = 0) out vec4 color;\n") + pair.inputs +
                   "\nvoid main() { color = vec4(0); " + pair.reads + " }\n");
      const auto inputs = Declared(fragment, "in");
      EXPECT_FALSE(inputs.empty()) << fragment;
      EXPECT_EQ(Declared(vertex, "out"), inputs) << vertex << fragment;
    }
  }
}

TEST_F(EsslTest, WhatGoesBetweenStagesIsNamedByItsLocation) {
  const std::string vertex = Cook("essl-310", "vert", kNoStorage);
  EXPECT_EQ(Declared(vertex, "out"), Declared(Cook("essl-310", "frag", kNoStorageFragment), "in"));
  EXPECT_EQ(Declared(vertex, "out"),
            (std::map<std::string, std::string>{
                {"io_at2", "vec3"}, {"io_at5", "vec2"}, {"io_at6", "float"}}));
}

TEST_F(EsslTest, StructuresBetweenStagesAreRefusedBefore320) {
  const char* const variable =
      "#version 450\nstruct S { vec4 a; };\nlayout(location = 1) out S s;\nvoid main() { s.a = "
      "vec4(1); gl_Position = s.a; }\n";
  const char* const member =
      "#version 450\nstruct S { vec4 a; };\nlayout(location = 0) out vec4 c;\nlayout(location = 3) "
      "in B { vec4 first; S s; } b;\nvoid main() { c = b.s.a + b.first; }\n";
  for (const char* version : {"essl-300", "essl-310"}) {
    EXPECT_THAT(Error(version, "vert", variable),
                HasSubstr("s (location 1) is a structure between stages"));
    EXPECT_THAT(Error(version, "frag", member),
                HasSubstr("b.s (location 4) is a structure between stages"));
  }
  Cook("essl-320", "vert", variable);
}

TEST_F(EsslTest, NamesOfWhatGoesBetweenStagesAreNotTheSources) {
  const char* const input =
      "#version 450\nlayout(location = 0) in vec4 io_at7;\nlayout(location = 7) out vec4 "
      "a;\nvoid main() { a = io_at7; gl_Position = a; }\n";
  EXPECT_THAT(Error("essl-310", "vert", input), HasSubstr("the name io_at7 begins with io_at"));
  Cook("essl-320", "vert", input);
  EXPECT_THAT(Error("essl-300", "frag",
                    "#version 450\nlayout(location = 0) in vec2 a;\nlayout(location = 0) out vec4 "
                    "c;\nlayout(binding = 0) uniform texture2D io;\nlayout(binding = 1) uniform "
                    "sampler at0;\nvoid main() { c = texture(sampler2D(io, at0), a); }\n"),
              HasSubstr("the name io_at0 begins with io_at"));
}

TEST_F(EsslTest, ComponentsOfWhatHasNoOtherStageAreErrors) {
  const std::string input =
      "#version 450\nlayout(location = 2, component = 1) in vec2 a;\nvoid main() { gl_Position = "
      "a.xyxy; }\n";
  EXPECT_THAT(Error("essl-310", "vert", input),
              HasSubstr("a is at component 1 of location 2: ESSL has no components"));
  Cook("essl-310", "vert",
       "#version 450\nlayout(location = 2, component = 0) in vec2 a;\nvoid main() { gl_Position = "
       "a.xyxy; }\n");
  EXPECT_THAT(
      Error("essl-320", "frag",
            "#version 450\nlayout(location = 0) out vec4 c;\nlayout(location = 3, component = 2) "
            "in vec2 a;\nvoid main() { c = a.xyxy; }\n"),
      HasSubstr("a is at component 2 of location 3"));
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
  // The variables have no unit: a stage that is cooked apart may read albedo by the other sampler.
  EXPECT_THAT(text, AllOf(HasSubstr("\nuniform highp sampler2D albedo_linear;"),
                          HasSubstr("\nuniform highp sampler2D albedo_nearest;"),
                          HasSubstr("layout(binding = 8) uniform highp sampler2DShadow shadow;")));
  const Json image = {{"set", 0}, {"binding", 0}};
  EXPECT_EQ(
      Reflection().at("combined"),
      (Json{
          {{"name", "albedo_linear"}, {"image", image}, {"sampler", {{"set", 0}, {"binding", 1}}}},
          {{"name", "albedo_nearest"},
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
  EXPECT_THAT(Error("essl-320", "vert",
                    "#version 450\n#extension GL_EXT_multiview : require\nvoid main() { "
                    "gl_Position = vec4(gl_ViewIndex); }\n"),
              HasSubstr("gl_ViewIndex (GL_EXT_multiview), which only SPIR-V targets take"));
  // ESSL has images that are read and written only in three formats. The check of the text that
  // spirv-cross wrote finds others.
  EXPECT_THAT(
      Error("essl-310", "comp",
            "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0, rgba8) uniform "
            "image2D i;\nvoid main() { imageStore(i, ivec2(0), imageLoad(i, ivec2(1))); }\n"),
      HasSubstr("essl:"));
}

TEST_F(EsslTest, StrideOutOfRangeIsAnError) {
  EXPECT_THAT(Error("essl-310", "frag", kSampleFragment, {{"set_stride", -1}}),
              HasSubstr("setting \"set_stride\": expected 0 to 1024, not -1"));
}

}  // namespace
}  // namespace galley::worker
