#include "worker/cookers/shader/shader_cooker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status_macros.h"
#include "common/record/output_names.h"
#include "tests/testing/fake_cook_context.h"

namespace galley::worker {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPlain = R"(#version 450
layout(location = 0) out vec4 color;
void main() { color = vec4(1.0); }
)";
constexpr const char* kIncluding = R"(#version 450
#include "inc/light.glsl"
layout(location = 0) out vec4 color;
void main() { color = vec4(Light()); }
)";

class ShaderCookerTest : public testing::Test {
 protected:
  FakeCookContext& Make(std::string source, const json& settings = json::object(),
                        const char* package = "/Game/fx/a.frag") {
    context_ = std::make_unique<FakeCookContext>(cooker_->description(), package, std::move(source),
                                                 settings);
    context_->SetPlatform("shader", "spirv-1.5");
    return *context_;
  }
  absl::Status Cook() { return LoadAndCook(*cooker_, *context_); }
  std::string Error() {
    const absl::Status status = Cook();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return MessageOf(status);
  }
  // Word `index` of an output.
  uint32_t Word(const std::string& suffix, size_t index) {
    const std::string& bytes = context_->output(suffix);
    uint32_t word = 0;
    for (size_t i = 4; i-- > 0;) word = word << 8 | static_cast<uint8_t>(bytes.at(4 * index + i));
    return word;
  }

  std::unique_ptr<Cooker> cooker_ = CreateShaderCooker();
  std::unique_ptr<FakeCookContext> context_;
};

TEST_F(ShaderCookerTest, GlslBecomesSpirvOfThePlatformsVersion) {
  for (const auto& [target, version] :
       {std::pair{"spirv-1.0", 0x10000u}, {"spirv-1.3", 0x10300u}, {"spirv-1.6", 0x10600u}}) {
    Make(kPlain).SetPlatform("shader", target);
    ASSERT_TRUE(Cook().ok());
    EXPECT_EQ(Word(".spv", 0), 0x07230203u);
    EXPECT_EQ(Word(".spv", 1), version);
    EXPECT_THAT(context_->looks(), ElementsAre("platform(shader)"));
  }
}

TEST_F(ShaderCookerTest, EveryStageCompiles) {
  const std::pair<const char*, const char*> kStages[] = {
      {"vert", "#version 450\nvoid main() { gl_Position = vec4(0); }"},
      {"comp", "#version 450\nlayout(local_size_x = 1) in; void main() {}"},
      {"geom",
       "#version 450\nlayout(points) in; layout(points, max_vertices = 1) out; void main() { "
       "EmitVertex(); }"},
      {"tesc",
       "#version 450\nlayout(vertices = 3) out; void main() { gl_TessLevelOuter[0] = 1.0; }"},
      {"tese", "#version 450\nlayout(triangles) in; void main() { gl_Position = vec4(0); }"}};
  for (const auto& [stage, text] : kStages) {
    Make(text, json::object(), (std::string("/Game/a.") + stage).c_str());
    ASSERT_TRUE(Cook().ok()) << stage;
    EXPECT_EQ(std::get<std::string>(context_->tags().at("stage")), stage);
    EXPECT_EQ(std::get<double>(context_->tags().at("size")),
              static_cast<double>(context_->output(".spv").size()));
  }
}

TEST_F(ShaderCookerTest,
       IncludeIsSearchedBesideTheIncluderAndThenInTheFoldersAndEveryLookIsObserved) {
  Make(kIncluding, {{"include_dirs", {"/Game/first", "/Engine/shaders"}}});
  context_->AddFile("/Engine/shaders/inc/light.glsl",
                    "#include \"base.glsl\"\nfloat Light() { return kBase; }\n");
  context_->AddFile("/Engine/shaders/inc/base.glsl", "const float kBase = 0.5;\n");
  ASSERT_TRUE(Cook().ok());
  EXPECT_THAT(
      context_->looks(),
      ElementsAre("platform(shader)", "file(inc/light.glsl)", "file(/Game/first/inc/light.glsl)",
                  "file(/Engine/shaders/inc/light.glsl)", "file(/Engine/shaders/inc/base.glsl)"));
}

TEST_F(ShaderCookerTest, NestedIncludesAreRelativeToTheirIncluder) {
  Make("#version 450\n#include \"../inc/a.glsl\"\nvoid main() {}\n")
      .AddFile("/Game/inc/a.glsl", "#include <sub/b.glsl>\n");
  context_->AddFile("/Game/inc/sub/b.glsl", "#include \"../c.glsl\"\n");
  context_->AddFile("/Game/inc/c.glsl", "\n");
  ASSERT_TRUE(Cook().ok());
  EXPECT_THAT(context_->looks(), ElementsAre("platform(shader)", "file(../inc/a.glsl)",
                                             "file(../inc/sub/b.glsl)", "file(../inc/c.glsl)"));
}

TEST_F(ShaderCookerTest, MissingIncludeNamesThePlacesAndIsObservedAbsent) {
  Make(kIncluding, {{"include_dirs", {"/Engine"}}});
  EXPECT_THAT(Error(), testing::AllOf(HasSubstr("source:2:"),
                                      HasSubstr("inc/light.glsl, /Engine/inc/light.glsl")));
  EXPECT_THAT(context_->looks(), ElementsAre("platform(shader)", "file(inc/light.glsl)",
                                             "file(/Engine/inc/light.glsl)"));
}

TEST_F(ShaderCookerTest, ErrorsNameFileAndLineAndAllAreGiven) {
  Make("#version 450\n#include \"bad.glsl\"\nvoid main() { float b = unknown_here; }\n")
      .AddFile("/Game/fx/bad.glsl", "\nfloat F() { return unknown_there; }\n");
  EXPECT_THAT(Error(),
              testing::AllOf(HasSubstr("bad.glsl:2: 'unknown_there'"), HasSubstr("source:3: ")));
}

TEST_F(ShaderCookerTest, AnIncludeThatGitLfsDidNotFetchIsNamed) {
  Make(kIncluding)
      .AddFile("/Game/fx/inc/light.glsl",
               "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n");
  EXPECT_THAT(Error(), testing::AllOf(HasSubstr("source:2:"),
                                      HasSubstr("inc/light.glsl: the file is a Git LFS pointer; "
                                                "run `git lfs pull`"),
                                      testing::Not(HasSubstr("syntax error"))));
}

TEST_F(ShaderCookerTest, CycleOfIncludesIsAnError) {
  Make("#version 450\n#include \"a.glsl\"\nvoid main() {}\n")
      .AddFile("/Game/fx/a.glsl", "#include \"a.glsl\"\n");
  EXPECT_THAT(Error(), HasSubstr("nest deeper than 64"));
}

TEST_F(ShaderCookerTest, IncludesHaveALimitInNumber) {
  std::string twice = "#include \"f.glsl\"\n";
  Make("#version 450\n#include \"d0.glsl\"\nvoid main() {}\n");
  for (int i = 0; i < 20; ++i) {
    const std::string next = "#include \"d" + std::to_string(i + 1) + ".glsl\"\n";
    context_->AddFile("/Game/fx/d" + std::to_string(i) + ".glsl", next + next);
  }
  context_->AddFile("/Game/fx/d20.glsl", "\n");
  EXPECT_THAT(Error(), HasSubstr("more than 10000 includes"));
}

TEST_F(ShaderCookerTest, VariantsAreOutputsOfTheirOwn) {
  Make(
      "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() {\n#ifdef RED\nc = vec4(1, 0, "
      "0, SCALE);\n#else\nc = vec4(SCALE);\n#endif\n}\n",
      {{"defines", {{"SCALE", 0.5}}},
       {"variants", {{"red", {{"RED", true}}}, {"large", {{"SCALE", "2.0"}}}}}});
  ASSERT_TRUE(Cook().ok());
  ASSERT_EQ(context_->outputs().size(), 6u);
  EXPECT_NE(context_->output(".spv"), context_->output(".d/red.spv"));
  EXPECT_NE(context_->output(".spv"), context_->output(".d/large.spv"));
  EXPECT_FALSE(context_->output(".d/red.reflect.cbor").empty());
  EXPECT_FALSE(context_->output(".d/large.reflect.cbor").empty());
}

TEST_F(ShaderCookerTest, ErrorInAVariantNamesIt) {
  Make("#version 450\n#ifdef BAD\n#error no\n#endif\nvoid main() {}\n",
       {{"variants", {{"bad", {{"BAD", 1}}}}}});
  EXPECT_THAT(Error(), HasSubstr("variant bad: ERROR: source:3:"));
}

TEST_F(ShaderCookerTest, NamesThatCannotBeAreRefused) {
  Make(kPlain, {{"defines", {{"1A", 1}}}});
  EXPECT_THAT(Error(), HasSubstr("\"1A\""));
  Make(kPlain, {{"variants", {{"../x", json::object()}}}});
  EXPECT_THAT(Error(), HasSubstr("../x"));
  Make(kPlain, {{"defines", {{"A", "1\n#error"}}}});
  EXPECT_THAT(Error(), HasSubstr("defines.A"));
}

TEST_F(ShaderCookerTest, OptimizedHasNoNamesAndEqualRunsGiveEqualBytes) {
  Make(kPlain);
  ASSERT_TRUE(Cook().ok());
  const std::string first = context_->output(".spv");
  EXPECT_THAT(first, Not(HasSubstr("color")));
  Make(kPlain);
  ASSERT_TRUE(Cook().ok());
  EXPECT_EQ(context_->output(".spv"), first);
  Make(kPlain, {{"optimize", false}});
  ASSERT_TRUE(Cook().ok());
  EXPECT_THAT(context_->output(".spv"), HasSubstr("color"));
}

TEST_F(ShaderCookerTest, OtherTargetsAreRefused) {
  Make(kPlain).SetPlatform("shader", "hlsl-5.0");
  EXPECT_THAT(Error(),
              HasSubstr("`shader` is hlsl-5.0; expected spirv-1.0 to spirv-1.6, essl-300"));
}

TEST_F(ShaderCookerTest, MissingIncludeOfAnIncludeNamesThatFileAndItsLine) {
  Make("#version 450\n#include \"inc/a.glsl\"\nvoid main() {}\n")
      .AddFile("/Game/fx/inc/a.glsl", "\n\n#include \"gone.glsl\"\n");
  EXPECT_THAT(Error(), testing::AllOf(HasSubstr("inc/a.glsl:3:"), HasSubstr("inc/gone.glsl")));
}

TEST_F(ShaderCookerTest, LineNumbersAfterNestedIncludesAreThoseOfTheFile) {
  Make("#version 450\n#include \"a.glsl\"\n#include \"a.glsl\"\n\nvoid main() { oops(); }\n");
  context_->AddFile("/Game/fx/a.glsl", "#include \"b.glsl\"\n\n\n");
  context_->AddFile("/Game/fx/b.glsl", "\n\n\n\n\n\n\n");
  EXPECT_THAT(Error(), HasSubstr("ERROR: source:5: 'oops'"));
}

TEST_F(ShaderCookerTest, ErrorInAnIncludeOfAVariantNamesVariantFileAndLine) {
  Make("#version 450\n#include \"a.glsl\"\nvoid main() {}\n",
       {{"variants", {{"bad", {{"BAD", 1}}}}}});
  context_->AddFile("/Game/fx/a.glsl", "#ifdef BAD\nint x = nothing;\n#endif\n");
  EXPECT_THAT(Error(), HasSubstr("variant bad: ERROR: a.glsl:2: 'nothing'"));
}

TEST_F(ShaderCookerTest, IdentityNamesEveryLibraryThatDecidesBytes) {
  EXPECT_THAT(cooker_->description().identity,
              testing::MatchesRegex("5;glslang=.+;spirv-tools=.+;spirv-cross=.+-[0-9a-f]{8}"));
}

TEST_F(ShaderCookerTest, EmptyFileAndGarbageAreVerdicts) {
  Make("");
  EXPECT_THAT(Error(), HasSubstr("the file is empty"));
  Make(std::string((16 << 20) + 1, 'x'));
  EXPECT_EQ(Error(), "the file has 16777217 bytes; a shader may have at most 16777216");
  Make(std::string("\x89PNG\r\n\0\0", 8));
  EXPECT_THAT(Error(), HasSubstr("is no GLSL text: it begins with the bytes 89 50 4e 47"));
  Make(std::string("\x89PNG\r\n\x1a\n\0", 9));
  EXPECT_THAT(Error(), HasSubstr("is no GLSL text: it is a PNG image, which the cooker `texture`"));
}

TEST_F(ShaderCookerTest, ThePlatformsLanguageAndTheVariantsNameTheOutputs) {
  const auto names = [&](const char* target) {
    return record::OutputNamesOf(cooker_->description(), R"({"variants":{"fog":{}}})",
                                 {{"shader", target}})
        .always;
  };
  EXPECT_THAT(names("spirv-1.5"),
              ElementsAre(".d/fog.reflect.cbor", ".d/fog.spv", ".reflect.cbor", ".spv"));
  EXPECT_THAT(names("essl-310"),
              ElementsAre(".d/fog.essl", ".d/fog.reflect.cbor", ".essl", ".reflect.cbor"));
  EXPECT_THAT(names("msl-2.1"),
              ElementsAre(".d/fog.msl", ".d/fog.reflect.cbor", ".msl", ".reflect.cbor"));
  const record::OutputNames plain =
      record::OutputNamesOf(cooker_->description(), R"({"variants":{}})", {{"shader", "msl-2.1"}});
  EXPECT_THAT(plain.always, ElementsAre(".msl", ".reflect.cbor"));
  EXPECT_FALSE(plain.has_more || plain.may_generate);
}

}  // namespace
}  // namespace galley::worker
