// shader_loop: what the shader cooker costs beside a loop over the compiler in the same process.
//
//   shader_loop [SHADERS [ROUNDS]]
//
// Workload: SHADERS (1,000) generated fragment shaders, each different, which share four includes
// of 60 functions each (seeded; Vulkan 1.1, SPIR-V 1.3). Each round does, over all shaders:
//   bare           glslang, spirv-opt's performance passes with names stripped, spirv-val on the
//                  result
//   bare_reflect   also spirv-cross' list of resources, parsed from the module with names
//   cooker         ShaderCooker with a fresh context each: all of the above, .reflect.cbor,
//                  observations
//   cooker_essl    the same for essl-310
// Prints medians over ROUNDS (5), in microseconds of CPU time for each shader, as a line of JSON.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "glslang/Public/ResourceLimits.h"
#include "glslang/Public/ShaderLang.h"
#include "glslang/SPIRV/GlslangToSpv.h"
#include "spirv-tools/libspirv.hpp"
#include "spirv-tools/optimizer.hpp"
#include "spirv_cross/spirv_cross_c.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/shader/shader_cooker.h"

namespace galley::worker {
namespace {

using Files = std::map<std::string, std::string>;

constexpr int kIncludes = 4;
constexpr int kFunctions = 60;
constexpr auto kEnvironment = SPV_ENV_VULKAN_1_1;

Files MakeIncludes() {
  Files files;
  for (int file = 0; file < kIncludes; ++file) {
    std::string text;
    for (int i = 0; i < kFunctions; ++i) {
      text += fmt::format(
          "// Function {1} of include {0}.\nvec3 f{0}_{1}(vec3 x, float k) {{\n  vec3 y = x * "
          "{2}.5 + "
          "vec3(k, {1}.0, 1.0);\n  for (int i = 0; i < {3}; ++i) y = fract(y * y.zxy + k);\n  "
          "return "
          "mix(x, y, clamp(k, 0.0, 1.0));\n}}\n",
          file, i, (file * 31 + i * 7) % 13, 2 + i % 3);
    }
    files[fmt::format("inc{}.glsl", file)] = text;
  }
  return files;
}

std::string MakeShader(int index) {
  std::string text = "#version 450\n";
  for (int file = 0; file < kIncludes; ++file)
    text += fmt::format("#include \"inc{}.glsl\"\n", file);
  text +=
      "layout(location = 0) in vec3 normal;\nlayout(location = 1) in vec2 uv;\nlayout(location = "
      "0) "
      "out vec4 color;\nlayout(set = 0, binding = 0) uniform Frame { mat4 view; vec4 lights[8]; } "
      "frame;\nlayout(set = 0, binding = 1) uniform sampler2D albedo;\nvoid main() {\n  vec3 c = "
      "texture(albedo, uv).rgb;\n";
  for (int i = 0; i < 8; ++i) {
    text += fmt::format("  c += f{}_{}(c * normal, frame.lights[{}].x);\n", (index + i) % kIncludes,
                        (index * 13 + i * 5) % kFunctions, i);
  }
  return text + fmt::format("  color = frame.view * vec4(c, {}.0);\n}}\n", index);
}

class MapIncluder : public glslang::TShader::Includer {
 public:
  explicit MapIncluder(const Files& files) : files_(files) {}
  IncludeResult* includeLocal(const char* name, const char*, size_t) override {
    const std::string& text = files_.at(name);
    return new IncludeResult(name, text.data(), text.size(), nullptr);
  }
  void releaseInclude(IncludeResult* result) override { delete result; }

 private:
  const Files& files_;
};

std::vector<uint32_t> CompileBare(const std::string& source, const Files& files) {
  constexpr auto kMessages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
  const char* const text = source.c_str();
  glslang::TShader shader(EShLangFragment);
  shader.setStrings(&text, 1);
  shader.setPreamble("#extension GL_GOOGLE_include_directive : enable\n");
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangFragment, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  MapIncluder includer(files);
  GALLEY_CHECK(
      shader.parse(GetDefaultResources(), 100, ENoProfile, false, false, kMessages, includer));
  glslang::TProgram program;
  program.addShader(&shader);
  GALLEY_CHECK(program.link(kMessages));
  std::vector<uint32_t> words;
  glslang::SpvOptions options;
  options.disableOptimizer = true;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangFragment), words, &options);
  return words;
}

void OptimizeBare(const std::vector<uint32_t>& words) {
  spvtools::Optimizer optimizer(kEnvironment);
  optimizer.RegisterPerformancePasses();
  optimizer.RegisterPass(spvtools::CreateStripDebugInfoPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  std::vector<uint32_t> optimized;
  GALLEY_CHECK(optimizer.Run(words.data(), words.size(), &optimized, options));
  GALLEY_CHECK(spvtools::SpirvTools(kEnvironment).Validate(optimized));
}

void ReflectBare(const std::vector<uint32_t>& words) {
  spvc_context context = nullptr;
  spvc_parsed_ir parsed = nullptr;
  spvc_compiler compiler = nullptr;
  spvc_resources resources = nullptr;
  GALLEY_CHECK(spvc_context_create(&context) == SPVC_SUCCESS);
  GALLEY_CHECK(spvc_context_parse_spirv(context, words.data(), words.size(), &parsed) ==
               SPVC_SUCCESS);
  GALLEY_CHECK(spvc_context_create_compiler(context, SPVC_BACKEND_NONE, parsed,
                                            SPVC_CAPTURE_MODE_TAKE_OWNERSHIP,
                                            &compiler) == SPVC_SUCCESS);
  GALLEY_CHECK(spvc_compiler_create_shader_resources(compiler, &resources) == SPVC_SUCCESS);
  spvc_context_destroy(context);
}

void CookOne(Cooker& cooker, const std::string& source, const Files& files, const char* target) {
  FakeCookContext context(cooker.description(), "/Game/a.frag", source);
  context.SetPlatform("shader", target);
  for (const auto& [name, text] : files) context.AddFile("/Game/" + name, text);
  const absl::Status status = LoadAndCook(cooker, context);
  if (!status.ok()) std::fprintf(stderr, "%s\n", MessageOf(status).c_str());
  GALLEY_CHECK(status.ok());
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int Run(int shaders, int rounds) {
  glslang::InitializeProcess();
  const Files files = MakeIncludes();
  std::vector<std::string> sources;
  for (int i = 0; i < shaders; ++i) sources.push_back(MakeShader(i));
  const std::unique_ptr<Cooker> cooker = CreateShaderCooker();
  std::map<std::string, std::vector<double>> times;
  const auto measure = [&](const char* name, const auto& work) {
    const auto began = std::chrono::steady_clock::now();
    for (const std::string& source : sources) work(source);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    times[name].push_back(took.count() / shaders);
  };
  for (int round = 0; round < rounds; ++round) {
    measure("bare", [&](const std::string& source) { OptimizeBare(CompileBare(source, files)); });
    measure("bare_reflect", [&](const std::string& source) {
      const std::vector<uint32_t> words = CompileBare(source, files);
      OptimizeBare(words);
      ReflectBare(words);
    });
    measure("cooker",
            [&](const std::string& source) { CookOne(*cooker, source, files, "spirv-1.3"); });
    measure("cooker_essl",
            [&](const std::string& source) { CookOne(*cooker, source, files, "essl-310"); });
  }
  std::string line = fmt::format("{{\"shaders\": {}, \"rounds\": {}", shaders, rounds);
  for (const auto& [name, values] : times)
    line += fmt::format(", \"{}_us\": {:.0f}", name, Median(values));
  const double cooker_us = Median(times["cooker"]);
  line += fmt::format(", \"speed_of_bare\": {:.3f}, \"speed_of_bare_reflect\": {:.3f}}}",
                      Median(times["bare"]) / cooker_us, Median(times["bare_reflect"]) / cooker_us);
  std::puts(line.c_str());
  return 0;
}

}  // namespace
}  // namespace galley::worker

int main(int argc, char** argv) {
  const int shaders = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  if (shaders < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: shader_loop [SHADERS [ROUNDS]]\n");
    return 2;
  }
  return galley::worker::Run(shaders, rounds);
}
