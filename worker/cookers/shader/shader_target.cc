#include "worker/cookers/shader/shader_target.h"

#include <array>

#include "spirv-tools/libspirv.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

struct Stage {
  std::string_view extension;
  EShLanguage stage;
  std::string_view words;
};

constexpr std::array<Stage, 6> kStages = {{
    {"vert", EShLangVertex, "vertex shaders"},
    {"frag", EShLangFragment, "fragment shaders"},
    {"comp", EShLangCompute, "compute shaders"},
    {"geom", EShLangGeometry, "geometry shaders"},
    {"tesc", EShLangTessControl, "tessellation control shaders"},
    {"tese", EShLangTessEvaluation, "tessellation evaluation shaders"},
}};

std::optional<ShaderTarget> FindTarget(std::string_view text) {
  using namespace glslang;  // NOLINT: its enumerators have long names
  using L = ShaderLanguage;
  // spirv-cross reads the SPIR-V of Vulkan 1.1, which can express everything in ESSL and MSL.
  constexpr auto kCrossSpirv = EShTargetSpv_1_3;
  constexpr auto kCrossVulkan = EShTargetVulkan_1_1;
  constexpr int kCrossTools = SPV_ENV_VULKAN_1_1;
  static const std::array<ShaderTarget, 15> kTargets = {{
      {"spirv-1.0", L::kSpirv, 0, EShTargetSpv_1_0, EShTargetVulkan_1_0, SPV_ENV_VULKAN_1_0},
      {"spirv-1.1", L::kSpirv, 0, EShTargetSpv_1_1, EShTargetVulkan_1_1, SPV_ENV_VULKAN_1_1},
      {"spirv-1.2", L::kSpirv, 0, EShTargetSpv_1_2, EShTargetVulkan_1_1, SPV_ENV_VULKAN_1_1},
      {"spirv-1.3", L::kSpirv, 0, EShTargetSpv_1_3, EShTargetVulkan_1_1, SPV_ENV_VULKAN_1_1},
      {"spirv-1.4", L::kSpirv, 0, EShTargetSpv_1_4, EShTargetVulkan_1_1,
       SPV_ENV_VULKAN_1_1_SPIRV_1_4},
      {"spirv-1.5", L::kSpirv, 0, EShTargetSpv_1_5, EShTargetVulkan_1_2, SPV_ENV_VULKAN_1_2},
      {"spirv-1.6", L::kSpirv, 0, EShTargetSpv_1_6, EShTargetVulkan_1_3, SPV_ENV_VULKAN_1_3},
      {"essl-300", L::kEssl, 300, kCrossSpirv, kCrossVulkan, kCrossTools},
      {"essl-310", L::kEssl, 310, kCrossSpirv, kCrossVulkan, kCrossTools},
      {"essl-320", L::kEssl, 320, kCrossSpirv, kCrossVulkan, kCrossTools},
      {"msl-2.0", L::kMsl, 20000, kCrossSpirv, kCrossVulkan, kCrossTools},
      {"msl-2.1", L::kMsl, 20100, kCrossSpirv, kCrossVulkan, kCrossTools},
      {"msl-2.2", L::kMsl, 20200, kCrossSpirv, kCrossVulkan, kCrossTools},
      {"msl-2.3", L::kMsl, 20300, kCrossSpirv, kCrossVulkan, kCrossTools},
      {"msl-2.4", L::kMsl, 20400, kCrossSpirv, kCrossVulkan, kCrossTools},
  }};
  for (const ShaderTarget& target : kTargets) {
    if (target.name == text) return target;
  }
  return std::nullopt;
}

// Advice that names targets with the stage that this target lacks.
std::string_view Instead(const ShaderTarget& target, EShLanguage stage) {
  if (target.language == ShaderLanguage::kMsl) {
    return stage == EShLangGeometry
               ? "Metal has no geometry stage; do the work in a vertex or compute shader"
               : "Metal tessellates with a compute kernel and a vertex function of its own; write "
                 "them for it, or do without tessellation there";
  }
  return stage == EShLangCompute ? "essl-310 and later have them"
                                 : "essl-320 has them; otherwise do without this stage there";
}

}  // namespace

absl::StatusOr<ShaderTarget> ParseShaderTarget(std::string_view text) {
  if (std::optional<ShaderTarget> target = FindTarget(text)) return *std::move(target);
  return VerdictError(
      "the platform's `shader` is {}; expected spirv-1.0 to spirv-1.6, essl-300, essl-310, "
      "essl-320, or msl-2.0 to msl-2.4",
      text);
}

std::string_view SuffixOf(ShaderLanguage language) {
  switch (language) {
    case ShaderLanguage::kSpirv:
      return ".spv";
    case ShaderLanguage::kEssl:
      return ".essl";
    case ShaderLanguage::kMsl:
      return ".msl";
  }
  return "";
}

std::string_view PrefixOf(ShaderLanguage language) {
  switch (language) {
    case ShaderLanguage::kSpirv:
      return "spirv-";
    case ShaderLanguage::kEssl:
      return "essl-";
    case ShaderLanguage::kMsl:
      return "msl-";
  }
  return "";
}

std::optional<EShLanguage> ParseStage(std::string_view extension) {
  for (const Stage& stage : kStages) {
    if (stage.extension == extension) return stage.stage;
  }
  return std::nullopt;
}

absl::Status CheckStage(const ShaderTarget& target, EShLanguage stage) {
  if (target.language == ShaderLanguage::kSpirv || stage == EShLangVertex ||
      stage == EShLangFragment) {
    return absl::OkStatus();
  }
  const bool has_compute = target.language == ShaderLanguage::kMsl || target.version >= 310;
  if (stage == EShLangCompute && has_compute) return absl::OkStatus();
  if (target.language == ShaderLanguage::kEssl && target.version >= 320) return absl::OkStatus();
  std::string_view words;
  for (const Stage& each : kStages) {
    if (each.stage == stage) words = each.words;
  }
  return VerdictError("the platform's shader target {} has no {}: {}", target.name, words,
                      Instead(target, stage));
}

}  // namespace galley::worker
