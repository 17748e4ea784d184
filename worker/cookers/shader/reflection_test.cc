#include "worker/cookers/shader/reflection.h"

#include <cstdlib>

#include "common/base/digest.h"
#include "worker/cookers/cbor/cbor.h"
#include "worker/cookers/shader/testing/shader_fixture.h"
#include "worker/cookers/shader/testing/shader_samples.h"

namespace galley::worker {
namespace {

using testing::HasSubstr;

class ReflectionTest : public ShaderTargetTest {};

TEST_F(ReflectionTest, BlocksHaveSizesOffsetsAndTypes) {
  Cook("spirv-1.3", "vert", kSampleVertex);
  const Json all = Reflection();
  EXPECT_EQ(all.at("version"), 2);
  EXPECT_EQ(all.at("target"), "spirv-1.3");
  EXPECT_EQ(all.at("stage"), "vert");
  EXPECT_EQ(all.at("entry_point"), "main");
  EXPECT_EQ(Binding("frame"), Json::parse(R"({
    "set": 0, "binding": 0, "name": "frame", "kind": "uniform_buffer", "count": 1, "used": true,
    "block": {"name": "Frame", "size": 112, "members": [
      {"name": "view", "type": "mat4", "offset": 0, "size": 64, "matrix_stride": 16, "row_major": true},
      {"name": "lights", "type": "struct", "struct": "Light", "array": [3], "array_stride": 16,
       "offset": 64, "size": 48, "members": [
        {"name": "position", "type": "vec3", "offset": 0, "size": 12},
        {"name": "range", "type": "float", "offset": 12, "size": 4}]}]}})"));
  const Json instances = Binding("instances");
  EXPECT_EQ(instances.at("kind"), "storage_buffer");
  EXPECT_EQ(instances.at("access"), "read");
  EXPECT_EQ(instances.at("block").at("size"), 16);
  EXPECT_EQ(instances.at("block").at("members").at(1).at("array"), Json::array({0}));
  EXPECT_EQ(all.at("push_constants"), Json::parse(R"({"name": "push", "used": true, "size": 32,
    "members": [{"name": "tint", "type": "vec4", "offset": 16, "size": 16}]})"));
}

TEST_F(ReflectionTest, UniformBuffersAreAsLongAsStd140MakesThem) {
  Cook("spirv-1.3", "vert",
       "#version 450\nlayout(binding = 0) uniform U { vec3 a; } u;\nlayout(std430, binding = 1) "
       "buffer B { vec3 a; } b;\nlayout(push_constant) uniform P { vec3 a; } p;\nvoid main() { "
       "gl_Position = vec4(u.a + b.a + p.a, 1.0); }\n");
  EXPECT_EQ(Binding("u").at("block").at("size"), 16);
  EXPECT_EQ(Binding("b").at("block").at("size"), 12);
  EXPECT_EQ(Reflection().at("push_constants").at("size"), 12);
}

TEST_F(ReflectionTest, InputsAndOutputsHaveLocationsAlsoInBlocks) {
  Cook("spirv-1.5", "vert", kSampleVertex);
  EXPECT_EQ(Reflection().at("inputs"), Json::parse(R"([
    {"name": "position", "type": "vec3", "location": 0, "component": 0, "used": true},
    {"name": "uv", "type": "vec2", "location": 1, "component": 0, "used": true}])"));
  EXPECT_EQ(Reflection().at("outputs"), Json::parse(R"([
    {"name": "normal", "type": "vec3", "location": 0, "component": 0, "used": true},
    {"name": "surface.uv", "type": "vec2", "location": 1, "component": 0, "used": true},
    {"name": "surface.turn", "type": "mat2", "location": 2, "component": 0, "used": true},
    {"name": "surface.fade", "type": "float", "location": 4, "component": 0, "used": true}])"));
}

TEST_F(ReflectionTest, ImagesSamplersAndWhatIsNotUsed) {
  Cook("spirv-1.0", "frag", kSampleFragment);
  EXPECT_EQ(Binding("albedo"), Json::parse(R"({
    "set": 0, "binding": 0, "name": "albedo", "kind": "sampled_image", "count": 1, "used": true,
    "image": {"dim": "2d", "arrayed": false, "multisampled": false, "depth": false, "sampled": "float"}})"));
  EXPECT_EQ(Binding("linear").at("kind"), "sampler");
  EXPECT_EQ(Binding("shadow").at("image").at("depth"), true);
  const Json never = Binding("never");
  EXPECT_EQ(never.at("kind"), "combined_image_sampler");
  EXPECT_EQ(never.at("count"), 2);
  EXPECT_EQ(never.at("used"), false);
  EXPECT_EQ(Reflection().at("specialization_constants"), Json::parse(R"([
    {"id": 2, "name": "kFlag", "type": "bool", "default": true},
    {"id": 7, "name": "kScale", "type": "float", "default": 1.5}])"));
}

TEST_F(ReflectionTest, LocalSizeIsThereForComputeAlone) {
  for (const char* target : {"spirv-1.3", "spirv-1.6", "essl-310", "msl-2.1"}) {
    Cook(target, "comp", kSampleCompute);
    EXPECT_EQ(Reflection().at("local_size"), Json({8, 1, 1})) << target;
    EXPECT_EQ(Reflection().at("local_size_ids"), Json({nullptr, 4, nullptr})) << target;
    EXPECT_EQ(Reflection().at("specialization_constants").size(), 1) << target;
  }
  Cook("spirv-1.6", "comp",
       "#version 450\nlayout(local_size_x = 3, local_size_z = 5) in;\nvoid main() {}");
  EXPECT_EQ(Reflection().at("local_size"), Json({3, 1, 5}));
  Cook("spirv-1.3", "frag", kSampleFragment);
  EXPECT_FALSE(Reflection().contains("local_size"));
}

TEST_F(ReflectionTest, SpecializationConstantThatIsALocalSizeIsListedOnceWithItsName) {
  for (const char* target : {"spirv-1.3", "spirv-1.6"}) {
    Cook(target, "comp",
         "#version 450\nlayout(local_size_x_id = 4) in;\nlayout(constant_id = 4) const uint "
         "kRows = 3;\nlayout(std430, binding = 0) buffer B { uint x; };\nvoid main() { x = kRows; "
         "}\n");
    EXPECT_EQ(Reflection().at("specialization_constants"),
              Json::parse(R"([{"id": 4, "name": "kRows", "type": "uint", "default": 3}])"))
        << target;
  }
}

TEST_F(ReflectionTest, StorageImagesAndTexelBuffers) {
  Cook("spirv-1.3", "comp", kSampleCompute);
  EXPECT_EQ(Binding("counts").at("access"), "read");
  EXPECT_EQ(Binding("counts").at("image").at("format"), "r32ui");
  EXPECT_EQ(Binding("counts").at("image").at("sampled"), "uint");
  EXPECT_EQ(Binding("target").at("access"), "write");
  Cook("spirv-1.3", "frag",
       "#version 450\nlayout(binding = 0) uniform samplerBuffer a;\nlayout(binding = 1, r32f) "
       "uniform "
       "imageBuffer b;\nlayout(input_attachment_index = 3, binding = 2) uniform subpassInput d;\n"
       "layout(location = 0) out vec4 c;\nvoid main() { c = texelFetch(a, 0) + imageLoad(b, 0) + "
       "subpassLoad(d); }\n");
  EXPECT_EQ(Binding("a").at("kind"), "uniform_texel_buffer");
  EXPECT_EQ(Binding("b").at("kind"), "storage_texel_buffer");
  EXPECT_EQ(Binding("d").at("kind"), "input_attachment");
  EXPECT_EQ(Binding("d").at("input_attachment_index"), 3);
}

TEST_F(ReflectionTest, ReferencesToBuffersThatLeadBackEnd) {
  Cook("spirv-1.5", "comp",
       "#version 450\n#extension GL_EXT_buffer_reference : require\nlayout(local_size_x = 1) in;\n"
       "layout(buffer_reference) buffer Node;\nlayout(buffer_reference, std430) buffer Node { Node "
       "next; uint value; };\nlayout(push_constant) uniform P { Node first; };\nvoid main() { "
       "first.next.value = 1; }\n");
  EXPECT_EQ(Reflection().at("push_constants").at("members").at(0).at("type"), "buffer_reference");
}

// S0 has two members, each next structure has twice as many members.
std::string Doubling(int count) {
  std::string source = "#version 450\nstruct S0 { vec4 a; vec4 b; };\n";
  for (int i = 1; i <= count; ++i) {
    const std::string inner = "S" + std::to_string(i - 1);
    source += "struct S" + std::to_string(i) + " { " + inner + " a; " + inner + " b; };\n";
  }
  return source;
}

TEST_F(ReflectionTest, ExplodingStructuresAreRefused) {
  EXPECT_THAT(
      Error("spirv-1.3", "vert",
            Doubling(16) + "layout(std430, binding = 0) buffer B { S16 s; } b;\nvoid main() { "
                           "b.s.a.a.a.a.a = b.s.b.a.a.a.a; }\n",
            {{"optimize", false}}),
      HasSubstr("structure S16 has more than 65536 members"));
  EXPECT_THAT(Error("spirv-1.3", "vert",
                    Doubling(16) +
                        "layout(location = 0) out B { S16 s; } b;\nvoid main() { b.s.a.a.a.a.a = "
                        "b.s.b.a.a.a.a; }\n",
                    {{"optimize", false}}),
              HasSubstr("structure S16 has more than 65536 members"));
}

TEST_F(ReflectionTest, WhatTheTargetsVulkanDoesNotAllowIsAVerdict) {
  EXPECT_THAT(
      Error("spirv-1.3", "vert",
            "#version 450\n#extension GL_EXT_scalar_block_layout : require\nlayout(scalar, "
            "binding = 0) uniform B { vec3 a; float b[3]; } b;\nvoid main() { gl_Position = "
            "vec4(b.a, b.b[1]); }\n"),
      HasSubstr("this shader's SPIR-V is not valid for spirv-1.3: "));
}

TEST_F(ReflectionTest, IsInDeterministicForm) {
  Cook("essl-310", "frag", kSampleFragment);
  EXPECT_EQ(EncodeCbor(Reflection()), context_->output(".reflect.cbor"));
}

TEST_F(ReflectionTest, SpirvIsAcceptedBySpirvVal) {
  for (const bool optimize : {false, true}) {
    const std::string spirv = Cook("spirv-1.5", "frag", kSampleFragment, {{"optimize", optimize}});
    EXPECT_TRUE(Accepts("spirv-val --target-env vulkan1.2", {{"a.spv", spirv}}));
  }
}

// Bytes that changed need a new kRevision in shader_cooker.cc, unless only a library changed.
// GALLEY_UPDATE_GOLDENS=1 rewrites the file.
TEST_F(ReflectionTest, OutputsAreTheGoldenOnes) {
  std::string found;
  for (const char* target : {"spirv-1.0", "spirv-1.3", "spirv-1.6", "essl-310", "essl-320",
                             "msl-2.0", "msl-2.1", "msl-2.4"}) {
    for (const auto& [stage, source] :
         {std::pair{"vert", kSampleVertex}, {"frag", kSampleFragment}, {"comp", kSampleCompute}}) {
      for (const bool optimize : {false, true}) {
        Cook(target, stage, source, {{"optimize", optimize}});
        for (const auto& [suffix, output] : context_->outputs()) {
          found += std::string(target) + " " + stage + (optimize ? " optimized " : " plain ") +
                   suffix + " " + Digest::Of(output.bytes).ToString() + "\n";
        }
      }
    }
  }
  const std::string path =
      std::string(GALLEY_SOURCE_DIR) + "/worker/cookers/shader/testdata/goldens.txt";
  if (std::getenv("GALLEY_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, found).ok());
  }
  const absl::StatusOr<std::string> golden = ReadFile(path);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(found, *golden);
}

}  // namespace
}  // namespace galley::worker
