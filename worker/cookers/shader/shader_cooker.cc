#include "worker/cookers/shader/shader_cooker.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/cookers/shader/build_shader.h"
#include "worker/cookers/shader/defines.h"
#include "worker/cookers/shader/glsl_outline.h"
#include "worker/cookers/shader/includes.h"
#include "worker/cookers/shader/shader_target.h"
#include "worker/cookers/source/foreign_source.h"
#include "worker/cookers/source_looker.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

constexpr size_t kSourceBytesMax = size_t{16} << 20;
constexpr size_t kWarningsMax = 100;
constexpr int64_t kSetStrideMax = 1024;
// Raised by hand when outputs change without a change of a library.
constexpr int kRevision = 5;

class ShaderCooker : public Cooker, public SourceLooker {
 public:
  ShaderCooker();
  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext&) override {
    return std::make_unique<Loaded>();
  }
  absl::Status Look(CookContext& context, LookDepth depth, FileLook& look) override;
  absl::Status Cook(CookContext& context, Loaded& loaded) override;

 private:
  record::CookerDescription description_;
};

// The outputs of the shader itself and of its variants: a module in the platform's language, and
// what the module wants from its host.
std::vector<record::OutputRule> OutputRules() {
  std::vector<record::OutputRule> rules = {
      {.suffix = ".reflect.cbor"}, {.suffix = ".d/*.reflect.cbor", .each_setting = "variants"}};
  for (const ShaderLanguage language : kShaderLanguages) {
    const std::string suffix(SuffixOf(language));
    const std::string prefix(PrefixOf(language));
    rules.push_back({.suffix = suffix, .when_parameter = "shader", .parameter_prefix = prefix});
    rules.push_back({.suffix = ".d/*" + suffix,
                     .each_setting = "variants",
                     .when_parameter = "shader",
                     .parameter_prefix = prefix});
  }
  return rules;
}

ShaderCooker::ShaderCooker() {
  using record::SettingType;
  description_.name = "shader";
  description_.identity = fmt::format("{};{}", kRevision, BuildIdentity());
  description_.extensions = {"comp", "frag", "geom", "tesc", "tese", "vert"};
  description_.outputs = OutputRules();
  description_.source_bytes_max = kSourceBytesMax;
  description_.documentation =
      "Vulkan GLSL with includes to SPIR-V, ESSL or MSL, as the platform's `shader` says, and what "
      "it wants from its host.";
  description_.looks = {{.subject = "shader", .in_verdicts = true}};  // a platform parameter
  description_.settings = {
      {.name = "include_dirs",
       .type = SettingType::kStringList,
       .default_json = "[]",
       .documentation = "Virtual folders in which includes are searched, in order, after the "
                        "includer's own folder."},
      {.name = "defines",
       .type = SettingType::kTable,
       .default_json = "{}",
       .documentation =
           "Macros for all compilations: name -> string, number, or true (1) or false (0)."},
      {.name = "variants",
       .type = SettingType::kTable,
       .default_json = "{}",
       .documentation =
           "Further compilations: name -> defines on top of `defines`; the outputs are "
           ".d/<name>.spv (or .essl, .msl) and .d/<name>.reflect.cbor."},
      {.name = "optimize",
       .type = SettingType::kBool,
       .default_json = "true",
       .documentation = "Runs spirv-opt's performance passes; SPIR-V loses its names."},
      {.name = "set_stride",
       .type = SettingType::kInteger,
       .default_json = "8",
       .documentation = "ESSL, which has no descriptor sets: binding b of set s is at "
                        "s * set_stride + b."},
      {.name = "fix_clip_space",
       .type = SettingType::kBool,
       .default_json = "true",
       .documentation = "Positions are turned from Vulkan's clip space into the target's (ESSL: "
                        "depth; MSL: y). false for a vertex shader whose positions go to a "
                        "tessellation or geometry shader."},
  };
}

absl::StatusOr<ShaderTarget> TargetOf(CookContext& context) {
  ASSIGN_OR_RETURN(const std::optional<std::string> name, context.Platform("shader"));
  if (name.has_value()) return ParseShaderTarget(*name);
  return VerdictError(
      "the platform has no `shader`; expected for instance spirv-1.3, essl-310 or msl-2.1");
}

absl::StatusOr<EShLanguage> StageOf(const CookContext& context, const ShaderTarget& target) {
  const std::optional<EShLanguage> stage = ParseStage(context.extension());
  if (!stage.has_value()) {
    return VerdictError(
        "extension \"{}\" names no stage; expected vert, frag, comp, geom, tesc or tese",
        context.extension());
  }
  RETURN_IF_ERROR(CheckStage(target, *stage));
  return *stage;
}

absl::StatusOr<uint32_t> SetStrideOf(const nlohmann::json& settings) {
  const int64_t stride = settings.at("set_stride").get<int64_t>();
  if (stride >= 0 && stride <= kSetStrideMax) return static_cast<uint32_t>(stride);
  return VerdictError("setting \"set_stride\": expected 0 to {}, not {}", kSetStrideMax, stride);
}

absl::StatusOr<std::vector<std::string>> IncludeFoldersOf(const nlohmann::json& settings) {
  std::vector<std::string> folders;
  for (const nlohmann::json& folder : settings.at("include_dirs")) {
    auto normal = content::NormalizeAsked(folder.get<std::string>());
    if (!normal.ok()) return Annotate(normal.status(), "setting \"include_dirs\"");
    folders.push_back(*std::move(normal));
  }
  return folders;
}

absl::StatusOr<std::string_view> TextOf(const Blob& source) {
  std::string_view text = *source;
  if (text.empty()) return VerdictError("the file is empty; expected GLSL");
  if (text.size() > kSourceBytesMax) {
    return VerdictError("the file has {} bytes; a shader may have at most {}", text.size(),
                        kSourceBytesMax);
  }
  RETURN_IF_ERROR(CheckNoLfsPointer(text));
  if (text.find('\0') != std::string_view::npos) return ForeignSource("GLSL text", text);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

// Passes each different warning on once, in the order of their first appearance.
void PassOn(CookContext& context, const std::vector<std::string>& warnings) {
  std::set<std::string> seen;
  for (const std::string& warning : warnings) {
    if (!seen.insert(warning).second) continue;
    if (seen.size() > kWarningsMax) {
      context.AddWarning(record::WarningKind::kShaderCompiler,
                         "more warnings of the compiler are left out");
      return;
    }
    context.AddWarning(record::WarningKind::kShaderCompiler, warning);
  }
}

absl::Status AddOutputs(CookContext& context, const Variant& variant, ShaderLanguage language,
                        BuiltShader built) {
  const std::string stem = variant.name.empty() ? "" : ".d/" + variant.name;
  if (variant.name.empty()) context.AddTag("size", static_cast<double>(built.bytes.size()));
  RETURN_IF_ERROR(
      context.AddOutput(fmt::format("{}{}", stem, SuffixOf(language)), std::move(built.bytes)));
  return context.AddOutput(stem + ".reflect.cbor", std::move(built.reflection));
}

// Whether the module needs what only SPIR-V 1.4 and later have: ray queries, mesh shading.
bool NeedsLateSpirv(const std::vector<uint32_t>& module) {
  // The names of extensions stand in the module as text.
  const std::string_view bytes(reinterpret_cast<const char*>(module.data()),
                               module.size() * sizeof(uint32_t));
  for (const std::string_view extension :
       {"SPV_KHR_ray_query", "SPV_KHR_ray_tracing", "SPV_EXT_mesh_shader"}) {
    if (bytes.find(extension) != std::string_view::npos) return true;
  }
  return false;
}

// Runs the front end alone: a translator may still refuse what the platform's language cannot
// express.
absl::Status CompileForLook(CookContext& context, std::string_view text) {
  ASSIGN_OR_RETURN(const ShaderTarget target, TargetOf(context));
  ASSIGN_OR_RETURN(const EShLanguage stage, StageOf(context, target));
  ASSIGN_OR_RETURN(const std::vector<std::string> folders, IncludeFoldersOf(context.settings()));
  ASSIGN_OR_RETURN(const std::vector<Variant> variants,
                   ParseVariants(context.settings().at("defines"), nlohmann::json::object()));
  Includes includes(context, folders);
  ASSIGN_OR_RETURN(
      const CompiledGlsl compiled,
      CompileGlsl(
          {.source = text, .stage = stage, .target = target, .preamble = variants.front().preamble},
          includes));
  context.AddTag("late_spirv", NeedsLateSpirv(compiled.module));
  return absl::OkStatus();
}

absl::Status ShaderCooker::Look(CookContext& context, LookDepth depth, FileLook& look) {
  const auto text = TextOf(context.source());
  if (!text.ok()) {
    if (context.source()->empty()) look.flaw = "empty";
    return text.status();
  }
  GlslOutline outline = ReadGlslOutline(*text);
  look.kind = outline.is_hlsl ? "HLSL" : "text";
  if (depth == LookDepth::kOutline) {
    look.includes = std::move(outline.includes);
    context.AddTag("main", outline.has_main);
    return absl::OkStatus();
  }
  absl::Status status = CompileForLook(context, *text);
  if (status.ok()) look.kind = fmt::format("GLSL, .{} shader", context.extension());
  if (absl::IsInvalidArgument(status)) look.flaw = FindGlslFlaw(*text, MessageOf(status));
  return status;
}

absl::Status ShaderCooker::Cook(CookContext& context, Loaded&) {
  const nlohmann::json& settings = context.settings();
  ASSIGN_OR_RETURN(const ShaderTarget target, TargetOf(context));
  ASSIGN_OR_RETURN(const EShLanguage stage, StageOf(context, target));
  ASSIGN_OR_RETURN(const std::string_view text, TextOf(context.source()));
  ASSIGN_OR_RETURN(const uint32_t set_stride, SetStrideOf(settings));
  ASSIGN_OR_RETURN(const std::vector<std::string> folders, IncludeFoldersOf(settings));
  ASSIGN_OR_RETURN(const std::vector<Variant> variants,
                   ParseVariants(settings.at("defines"), settings.at("variants")));

  std::vector<std::string> warnings;
  for (const Variant& variant : variants) {
    Includes includes(context, folders);
    auto built = BuildShader(
        {.glsl = {.source = text, .stage = stage, .target = target, .preamble = variant.preamble},
         .stage_name = context.extension(),
         .optimize = settings.at("optimize").get<bool>(),
         .set_stride = set_stride,
         .fix_clip_space = settings.at("fix_clip_space").get<bool>()},
        includes);
    if (absl::IsAborted(built.status())) return built.status();
    if (!built.ok())
      return Annotate(built.status(), variant.name.empty() ? "" : "variant " + variant.name);
    warnings.insert(warnings.end(), built->warnings.begin(), built->warnings.end());
    RETURN_IF_ERROR(AddOutputs(context, variant, target.language, *std::move(built)));
  }
  context.AddTag("stage", context.extension());
  PassOn(context, warnings);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Cooker> CreateShaderCooker() { return std::make_unique<ShaderCooker>(); }

}  // namespace galley::worker
