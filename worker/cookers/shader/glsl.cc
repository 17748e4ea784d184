#include "worker/cookers/shader/glsl.h"

#include <utility>

#include "common/base/status_macros.h"
#include "common/record/source_names.h"
#include "fmt/format.h"
#include "glslang/Public/ResourceLimits.h"
#include "glslang/SPIRV/GlslangToSpv.h"
#include "glslang/build_info.h"

namespace galley::worker {
namespace {

constexpr size_t kMessageBytesMax = 64 << 10;
// The tool's number in the high half (8: Khronos' glslang; registry spir-v.xml). The low half, the
// tool's version, is 0, because the identity has the version.
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
    // The parser's words for code that nests deeper than its stack of some thousand places.
    if (line.find("'' :  memory exhausted") != std::string_view::npos)
      text += ": the code nests too deep (brackets, if, else if, ?:, signs); divide it";
  }
  return text.empty() ? "the compiler failed without a message" : text;
}

void TakeWarnings(std::string_view info_log, std::vector<std::string>& warnings) {
  for (const std::string_view line : LinesOf(info_log)) {
    if (line.starts_with("WARNING:")) warnings.emplace_back(line);
  }
}

void Configure(glslang::TShader& shader, const GlslRequest& request) {
  shader.setEnvInput(glslang::EShSourceGlsl, request.stage, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, request.target.vulkan);
  shader.setEnvTarget(glslang::EShTargetSpv, request.target.spirv);
}

absl::StatusOr<std::vector<uint32_t>> ToSpirv(const glslang::TIntermediate& intermediate) {
  glslang::SpvOptions options;
  options.generateDebugInfo = false;
  options.disableOptimizer = true;
  options.validate = false;
  spv::SpvBuildLogger logger;
  std::vector<uint32_t> words;
  glslang::GlslangToSpv(intermediate, words, &logger, &options);
  if (words.size() <= kGeneratorWord)
    return absl::InvalidArgumentError(Messages(logger.getAllMessages()));
  words[kGeneratorWord] = kGenerator;
  return words;
}

}  // namespace

std::string GlslangIdentity() {
  return fmt::format("glslang={}.{}.{}", GLSLANG_VERSION_MAJOR, GLSLANG_VERSION_MINOR,
                     GLSLANG_VERSION_PATCH);
}

absl::StatusOr<CompiledGlsl> CompileGlsl(const GlslRequest& request, Includes& includes) {
  InitializeOnce();
  const char* const text = request.source.data();
  const int size = static_cast<int>(request.source.size());
  const std::string name(record::kSourceName);
  const char* const name_text = name.c_str();
  const std::string preamble =
      fmt::format("#extension GL_GOOGLE_include_directive : enable\n{}", request.preamble);
  for (const auto& [file, part] :
       {std::pair<std::string_view, std::string_view>{"defines", preamble},
        {record::kSourceName, request.source}}) {
    if (const absl::Status guarded = includes.guard().Read(file, part); !guarded.ok())
      return absl::InvalidArgumentError("ERROR: " + MessageOf(guarded));
  }

  glslang::TShader shader(request.stage);
  shader.setStringsWithLengthsAndNames(&text, &size, &name_text, 1);
  shader.setPreamble(preamble.c_str());
  Configure(shader, request);
  const bool parsed =
      shader.parse(GetDefaultResources(), 100, ENoProfile, false, false, kMessages, includes);
  RETURN_IF_ERROR(includes.status());
  if (!parsed) return absl::InvalidArgumentError(Messages(shader.getInfoLog()));
  CompiledGlsl compiled;
  TakeWarnings(shader.getInfoLog(), compiled.warnings);

  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(kMessages)) {
    return absl::InvalidArgumentError(
        Messages(fmt::format("{}\n{}", shader.getInfoLog(), program.getInfoLog())));
  }
  TakeWarnings(program.getInfoLog(), compiled.warnings);
  ASSIGN_OR_RETURN(compiled.module, ToSpirv(*program.getIntermediate(request.stage)));
  return compiled;
}

absl::Status CheckEssl(std::string_view text, EShLanguage stage) {
  InitializeOnce();
  const char* const data = text.data();
  const int size = static_cast<int>(text.size());
  const char* const name = "essl";
  glslang::TShader shader(stage);
  shader.setStringsWithLengthsAndNames(&data, &size, &name, 1);
  if (!shader.parse(GetDefaultResources(), 100, false, EShMsgDefault))
    return absl::InvalidArgumentError(Messages(shader.getInfoLog()));
  glslang::TProgram program;
  program.addShader(&shader);
  if (program.link(EShMsgDefault)) return absl::OkStatus();
  return absl::InvalidArgumentError(Messages(program.getInfoLog()));
}

}  // namespace galley::worker
