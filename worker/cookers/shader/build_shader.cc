#include "worker/cookers/shader/build_shader.h"

#include <exception>
#include <optional>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/shader/cross_module.h"
#include "worker/cookers/shader/essl.h"
#include "worker/cookers/shader/module_checks.h"
#include "worker/cookers/shader/msl.h"
#include "worker/cookers/shader/reflection.h"
#include "worker/cookers/shader/spirv_tools.h"
#include "worker/cookers/shader/target_names.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Module = std::vector<uint32_t>;

struct Modules {
  Module named;    // as compiled
  Module written;  // what the target is made of
};

spvc_backend BackendOf(ShaderLanguage language) {
  switch (language) {
    case ShaderLanguage::kSpirv:
      return SPVC_BACKEND_NONE;
    case ShaderLanguage::kEssl:
      return SPVC_BACKEND_GLSL;
    case ShaderLanguage::kMsl:
      return SPVC_BACKEND_MSL;
  }
  return SPVC_BACKEND_NONE;
}

// Checks the module before it is optimised: here a flaw is the shader's own, such as a block layout
// that only an extension allows.
absl::Status CheckCompiled(const Module& module, const ShaderTarget& target) {
  const std::string flaw = FindInvalid(module, target.tools_environment);
  if (flaw.empty()) return absl::OkStatus();
  return VerdictError("this shader's SPIR-V is not valid for {}: {}", target.name, flaw);
}

// The optimised module of a valid shader; nullopt: the optimiser failed, since some of its passes,
// rarely, break structured control flow.
absl::StatusOr<std::optional<Module>> Optimize(const Module& named, const ShaderTarget& target) {
  const bool strips_names = target.language == ShaderLanguage::kSpirv;
  auto optimized = OptimizeSpirv(named, target.tools_environment, strips_names);
  if (optimized.ok() && FindInvalid(*optimized, target.tools_environment).empty())
    return *std::move(optimized);
  RETURN_IF_ERROR(CheckCompiled(named, target));
  return std::nullopt;
}

absl::StatusOr<Modules> Compile(const BuildRequest& request, Includes& includes,
                                std::vector<std::string>& warnings) {
  const ShaderTarget& target = request.glsl.target;
  ASSIGN_OR_RETURN(CompiledGlsl compiled, CompileGlsl(request.glsl, includes));
  warnings = std::move(compiled.warnings);
  Modules modules{.named = std::move(compiled.module), .written = {}};
  RETURN_IF_ERROR(CheckSpecializationConstants(modules.named));
  RETURN_IF_ERROR(CheckModuleTypes(modules.named));
  RETURN_IF_ERROR(CheckModuleNesting(modules.named));
  if (!request.optimize) {
    RETURN_IF_ERROR(CheckCompiled(modules.named, target));
    modules.written = modules.named;
    return modules;
  }
  const std::string too_much = FindTooMuchToOptimize(modules.named);
  std::optional<Module> optimized;
  if (too_much.empty()) {
    ASSIGN_OR_RETURN(optimized, Optimize(modules.named, target));
  } else {
    RETURN_IF_ERROR(CheckCompiled(modules.named, target));
  }
  if (optimized.has_value()) {
    modules.written = *std::move(optimized);
    return modules;
  }
  warnings.push_back(fmt::format(
      "the optimiser cannot do this shader{}: it is written as with optimize = false",
      too_much.empty() ? ""
                       : fmt::format(" ({}, with each call replaced by what it calls)", too_much)));
  modules.written = modules.named;
  if (target.language == ShaderLanguage::kSpirv) {
    ASSIGN_OR_RETURN(modules.written, StripNames(modules.named, target.tools_environment));
  }
  return modules;
}

absl::StatusOr<std::string> Write(const BuildRequest& request, const Modules& modules,
                                  CrossModule& written, Reflection& reflection) {
  const ShaderTarget& target = request.glsl.target;
  absl::StatusOr<std::string> text;
  switch (target.language) {
    case ShaderLanguage::kSpirv:
      return SpirvBytes(modules.written);
    case ShaderLanguage::kEssl:
      text = WriteEssl(written,
                       {.version = target.version,
                        .stage = request.glsl.stage,
                        .set_stride = request.set_stride,
                        .fix_clip_space = request.fix_clip_space},
                       reflection);
      break;
    case ShaderLanguage::kMsl:
      text =
          WriteMsl(written, {.version = target.version, .fix_clip_space = request.fix_clip_space},
                   reflection);
      break;
  }
  if (text.ok()) return text;
  return Annotate(text.status(), fmt::format("this shader cannot be written as {}", target.name));
}

// The part that uses spirv-cross, whose interface lets an exception through here and there.
absl::Status ReflectAndWrite(const BuildRequest& request, const Modules& modules,
                             BuiltShader& built) {
  const ShaderTarget& target = request.glsl.target;
  ASSIGN_OR_RETURN(CrossModule written,
                   CrossModule::Create(NameForTarget(modules.written, target.language),
                                       BackendOf(target.language)));
  ASSIGN_OR_RETURN(const std::set<uint32_t> used, written.ActiveVariables());
  ASSIGN_OR_RETURN(const CrossModule named, CrossModule::Create(modules.named, SPVC_BACKEND_NONE));
  ASSIGN_OR_RETURN(Reflection reflection, Reflect(named, used, request.stage_name));
  ASSIGN_OR_RETURN(built.bytes, Write(request, modules, written, reflection));
  RecordWrittenNames(written, target.language, reflection);
  built.reflection = EncodeReflection(reflection, target.name);
  return absl::OkStatus();
}

}  // namespace

std::string BuildIdentity() {
  return fmt::format("{};{};{}", GlslangIdentity(), SpirvToolsIdentity(), SpirvCrossIdentity());
}

absl::StatusOr<BuiltShader> BuildShader(const BuildRequest& request, Includes& includes) {
  BuiltShader built;
  ASSIGN_OR_RETURN(const Modules modules, Compile(request, includes, built.warnings));
  try {
    RETURN_IF_ERROR(ReflectAndWrite(request, modules, built));
  } catch (const std::exception& error) {
    return VerdictError("spirv-cross: {}", error.what());
  }
  return built;
}

}  // namespace galley::worker
