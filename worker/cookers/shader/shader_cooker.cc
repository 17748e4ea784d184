#include "worker/cookers/shader/shader_cooker.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/cookers/shader/defines.h"
#include "worker/cookers/shader/includes.h"
#include "worker/cookers/shader/spirv.h"

namespace galley::worker {
namespace {

constexpr size_t kSourceBytesMax = size_t{16} << 20;
constexpr size_t kWarningsMax = 100;

class ShaderCooker : public Cooker {
 public:
  ShaderCooker();
  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext&) override {
    return std::make_unique<Loaded>();
  }
  absl::Status Cook(CookContext& context, Loaded& loaded) override;

 private:
  record::CookerDescription description_;
};

ShaderCooker::ShaderCooker() {
  using record::SettingType;
  description_.name = "shader";
  description_.identity = SpirvIdentity();
  description_.extensions = {"comp", "frag", "geom", "tesc", "tese", "vert"};
  description_.outputs = {".spv", ".d/<variant>.spv"};
  description_.documentation = "GLSL with includes to SPIR-V for Vulkan.";
  description_.settings = {
      {.name = "include_dirs",
       .type = SettingType::kStringList,
       .default_json = "[]",
       .choices = {},
       .documentation = "Virtual folders in which includes are searched, in order, after the "
                        "includer's own folder."},
      {.name = "defines",
       .type = SettingType::kTable,
       .default_json = "{}",
       .choices = {},
       .documentation =
           "Macros for all compilations: name -> string, number, or true (1) or false (0)."},
      {.name = "variants",
       .type = SettingType::kTable,
       .default_json = "{}",
       .choices = {},
       .documentation = "Further compilations: name -> defines on top of `defines`; each is the "
                        "output .d/<name>.spv."},
      {.name = "optimize",
       .type = SettingType::kBool,
       .default_json = "true",
       .choices = {},
       .documentation = "Runs spirv-opt's performance passes and strips names."},
  };
}

absl::StatusOr<SpirvTarget> TargetOf(CookContext& context) {
  ASSIGN_OR_RETURN(const std::optional<std::string> name, context.Platform("shader"));
  if (!name.has_value()) {
    return absl::InvalidArgumentError(
        "the platform has no `shader`; expected spirv-1.0 to spirv-1.6");
  }
  if (const std::optional<SpirvTarget> target = ParseSpirvTarget(*name)) return *target;
  return absl::InvalidArgumentError(
      fmt::format("the platform's shader target {} is not supported yet by the shader cooker; use "
                  "spirv-1.x (1.0 to 1.6)",
                  *name));
}

absl::StatusOr<std::vector<std::string>> IncludeFoldersOf(const nlohmann::json& settings) {
  std::vector<std::string> folders;
  for (const nlohmann::json& folder : settings.at("include_dirs")) {
    auto normal = content::NormalizeAsked(folder.get<std::string>());
    if (!normal.ok()) return Annotate(normal.status(), "include_dirs");
    folders.push_back(*std::move(normal));
  }
  return folders;
}

absl::StatusOr<std::string_view> TextOf(const Blob& source) {
  std::string_view text = *source;
  if (text.empty()) return absl::InvalidArgumentError("the file is empty; expected GLSL");
  if (text.size() > kSourceBytesMax) {
    return absl::InvalidArgumentError(fmt::format(
        "the file has {} bytes; a shader may have at most {}", text.size(), kSourceBytesMax));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

// Each warning once, in the order of their first appearance.
void PassOn(CookContext& context, const std::vector<std::string>& warnings) {
  std::set<std::string> seen;
  for (const std::string& warning : warnings) {
    if (!seen.insert(warning).second) continue;
    if (seen.size() > kWarningsMax) {
      context.AddWarning("more warnings of the compiler are left out");
      return;
    }
    context.AddWarning(warning);
  }
}

absl::Status ShaderCooker::Cook(CookContext& context, Loaded&) {
  const nlohmann::json& settings = context.settings();
  const std::optional<EShLanguage> stage = ParseStage(context.extension());
  if (!stage.has_value()) {
    return absl::InvalidArgumentError(fmt::format(
        "extension \"{}\" names no stage; expected vert, frag, comp, geom, tesc or tese",
        context.extension()));
  }
  ASSIGN_OR_RETURN(const SpirvTarget target, TargetOf(context));
  ASSIGN_OR_RETURN(const std::string_view text, TextOf(context.source()));
  ASSIGN_OR_RETURN(const std::vector<std::string> folders, IncludeFoldersOf(settings));
  ASSIGN_OR_RETURN(const std::vector<Variant> variants,
                   ParseVariants(settings.at("defines"), settings.at("variants")));

  std::vector<std::string> warnings;
  for (const Variant& variant : variants) {
    Includes includes(context, folders);
    auto compiled = CompileToSpirv({.source = text,
                                    .stage = *stage,
                                    .target = target,
                                    .preamble = variant.preamble,
                                    .optimize = settings.at("optimize").get<bool>()},
                                   includes);
    if (absl::IsAborted(compiled.status())) return compiled.status();
    if (!compiled.ok()) {
      return Annotate(compiled.status(), variant.name.empty() ? "" : "variant " + variant.name);
    }
    if (variant.name.empty()) context.AddTag("size", static_cast<double>(compiled->spirv.size()));
    warnings.insert(warnings.end(), compiled->warnings.begin(), compiled->warnings.end());
    const std::string suffix =
        variant.name.empty() ? ".spv" : fmt::format(".d/{}.spv", variant.name);
    RETURN_IF_ERROR(context.AddOutput(suffix, std::move(compiled->spirv)));
  }
  context.AddTag("stage", context.extension());
  PassOn(context, warnings);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Cooker> CreateShaderCooker() { return std::make_unique<ShaderCooker>(); }

}  // namespace galley::worker
