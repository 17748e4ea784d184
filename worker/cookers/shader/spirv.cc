#include "worker/cookers/shader/spirv.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "glslang/Public/ResourceLimits.h"
#include "glslang/SPIRV/GlslangToSpv.h"
#include "glslang/build_info.h"
#include "spirv-tools/libspirv.hpp"
#include "spirv-tools/optimizer.hpp"

namespace galley::worker {
namespace {

using Words = std::vector<uint32_t>;

constexpr size_t kMessageBytesMax = 64 << 10;
// The tool's number in the high half (8: Khronos' glslang; registry spir-v.xml), its version in the
// low one: the identity has that.
constexpr uint32_t kGenerator = 8u << 16;
constexpr size_t kGeneratorWord = 2;
constexpr EShMessages kMessages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);

void InitializeOnce() {
  static const bool initialized = glslang::InitializeProcess();
  GALLEY_CHECK(initialized);
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::string Messages(std::string_view info_log) {
  std::string text;
  for (const std::string_view line : LinesOf(info_log)) {
    if (text.size() + line.size() > kMessageBytesMax)
      return text + "\n(more messages are left out)";
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text.empty() ? "the compiler failed without a message" : text;
}

void TakeWarnings(std::string_view info_log, std::vector<std::string>& warnings) {
  for (const std::string_view line : LinesOf(info_log)) {
    if (line.starts_with("WARNING:")) warnings.emplace_back(line);
  }
}

void Configure(glslang::TShader& shader, const CompileRequest& request) {
  shader.setEnvInput(glslang::EShSourceGlsl, request.stage, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, request.target.client);
  shader.setEnvTarget(glslang::EShTargetSpv, request.target.language);
}

absl::StatusOr<Words> Compile(const CompileRequest& request, Includes& includes,
                              std::vector<std::string>& warnings) {
  InitializeOnce();
  const char* const text = request.source.data();
  const int size = static_cast<int>(request.source.size());
  const std::string name(kSourceName);
  const char* const name_text = name.c_str();
  const std::string preamble =
      "#extension GL_GOOGLE_include_directive : enable\n" + request.preamble;

  glslang::TShader shader(request.stage);
  shader.setStringsWithLengthsAndNames(&text, &size, &name_text, 1);
  shader.setPreamble(preamble.c_str());
  Configure(shader, request);
  const bool parsed =
      shader.parse(GetDefaultResources(), 100, ENoProfile, false, false, kMessages, includes);
  RETURN_IF_ERROR(includes.status());
  if (!parsed) return absl::InvalidArgumentError(Messages(shader.getInfoLog()));
  TakeWarnings(shader.getInfoLog(), warnings);

  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(kMessages)) {
    return absl::InvalidArgumentError(
        Messages(fmt::format("{}\n{}", shader.getInfoLog(), program.getInfoLog())));
  }
  TakeWarnings(program.getInfoLog(), warnings);

  glslang::SpvOptions options;
  options.generateDebugInfo = false;
  options.disableOptimizer = true;
  options.validate = false;
  spv::SpvBuildLogger logger;
  Words words;
  glslang::GlslangToSpv(*program.getIntermediate(request.stage), words, &logger, &options);
  if (words.size() <= kGeneratorWord)
    return absl::InvalidArgumentError(Messages(logger.getAllMessages()));
  words[kGeneratorWord] = kGenerator;
  return words;
}

// Collects what a tool says.
spvtools::MessageConsumer CollectInto(std::string& text) {
  return [&text](spv_message_level_t, const char*, const spv_position_t& position,
                 const char* message) {
    if (text.size() < kMessageBytesMax)
      text += fmt::format("{}word {}: {}", text.empty() ? "" : "; ", position.index, message);
  };
}

absl::StatusOr<Words> Optimize(const Words& words, spv_target_env environment) {
  std::string messages;
  spvtools::Optimizer optimizer(environment);
  optimizer.SetMessageConsumer(CollectInto(messages));
  optimizer.RegisterPerformancePasses();
  optimizer.RegisterPass(spvtools::CreateStripDebugInfoPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);  // before and after, below
  Words optimized;
  if (!optimizer.Run(words.data(), words.size(), &optimized, options)) {
    return absl::InternalError("spirv-opt failed: " + messages);
  }
  return optimized;
}

absl::Status Validate(const Words& words, spv_target_env environment, std::string_view whose) {
  std::string messages;
  spvtools::SpirvTools tools(environment);
  tools.SetMessageConsumer(CollectInto(messages));
  if (tools.Validate(words)) return absl::OkStatus();
  return absl::InternalError(fmt::format("{} made SPIR-V that is not valid: {}", whose, messages));
}

std::string ToBytes(const Words& words) {
  std::string bytes;
  bytes.reserve(words.size() * 4);
  for (const uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<char>((word >> shift) & 0xFF));
  }
  return bytes;
}

}  // namespace

std::string SpirvIdentity() {
  return fmt::format("1;glslang={}.{}.{};spirv-tools={}", GLSLANG_VERSION_MAJOR,
                     GLSLANG_VERSION_MINOR, GLSLANG_VERSION_PATCH, spvSoftwareVersionString());
}

std::optional<SpirvTarget> ParseSpirvTarget(std::string_view text) {
  using namespace glslang;  // NOLINT: its enumerators have long names
  static const std::array<std::pair<std::string_view, SpirvTarget>, 7> kTargets = {{
      {"spirv-1.0", {EShTargetSpv_1_0, EShTargetVulkan_1_0, SPV_ENV_VULKAN_1_0}},
      {"spirv-1.1", {EShTargetSpv_1_1, EShTargetVulkan_1_1, SPV_ENV_VULKAN_1_1}},
      {"spirv-1.2", {EShTargetSpv_1_2, EShTargetVulkan_1_1, SPV_ENV_VULKAN_1_1}},
      {"spirv-1.3", {EShTargetSpv_1_3, EShTargetVulkan_1_1, SPV_ENV_VULKAN_1_1}},
      {"spirv-1.4", {EShTargetSpv_1_4, EShTargetVulkan_1_1, SPV_ENV_VULKAN_1_1_SPIRV_1_4}},
      {"spirv-1.5", {EShTargetSpv_1_5, EShTargetVulkan_1_2, SPV_ENV_VULKAN_1_2}},
      {"spirv-1.6", {EShTargetSpv_1_6, EShTargetVulkan_1_3, SPV_ENV_VULKAN_1_3}},
  }};
  for (const auto& [name, target] : kTargets) {
    if (name == text) return target;
  }
  return std::nullopt;
}

std::optional<EShLanguage> ParseStage(std::string_view extension) {
  static constexpr std::array<std::pair<std::string_view, EShLanguage>, 6> kStages = {{
      {"vert", EShLangVertex},
      {"frag", EShLangFragment},
      {"comp", EShLangCompute},
      {"geom", EShLangGeometry},
      {"tesc", EShLangTessControl},
      {"tese", EShLangTessEvaluation},
  }};
  for (const auto& [name, stage] : kStages) {
    if (name == extension) return stage;
  }
  return std::nullopt;
}

absl::StatusOr<Compiled> CompileToSpirv(const CompileRequest& request, Includes& includes) {
  const auto environment = static_cast<spv_target_env>(request.target.tools_environment);
  Compiled compiled;
  ASSIGN_OR_RETURN(Words words, Compile(request, includes, compiled.warnings));
  RETURN_IF_ERROR(Validate(words, environment, "glslang"));
  if (request.optimize) {
    ASSIGN_OR_RETURN(words, Optimize(words, environment));
    RETURN_IF_ERROR(Validate(words, environment, "spirv-opt"));
  }
  compiled.spirv = ToBytes(words);
  return compiled;
}

}  // namespace galley::worker
