#include "common/project/cooker_choice.h"

#include "absl/strings/ascii.h"
#include "common/toml/toml_value.h"
#include "fmt/format.h"

namespace galley::project {
namespace {

// A sidecar that cannot be read chooses as its file alone does: by being there.
CookerChoice ChoiceOfSidecar(const std::string& file, std::string_view toml) {
  const absl::StatusOr<TomlValue> parsed = ParseToml(toml, file);
  const TomlValue* const cooker = parsed.ok() ? parsed->Find("cooker") : nullptr;
  if (cooker != nullptr) {
    if (const auto* name = std::get_if<std::string>(&cooker->data))
      return {*name, fmt::format("{}:{}", file, cooker->line)};
  }
  return {"", fmt::format("{}:1", file)};
}

}  // namespace

std::optional<CookerChoice> FindCookerChoice(const Project& project, std::string_view package,
                                             const std::optional<std::string>& sidecar) {
  if (IsSidecar(package)) return std::nullopt;
  const std::string lower =
      absl::AsciiStrToLower(absl::string_view(package.data(), package.size()));
  std::optional<CookerChoice> choice;
  for (const Rule& rule : project.rules) {
    if (!rule.body.cooker || !rule.match.Matches(rule.ignore_case ? lower : package)) continue;
    // A later rule that names the same cooker decides nothing.
    if (choice && choice->cooker == *rule.body.cooker) continue;
    choice = {*rule.body.cooker, fmt::format("{}:{}", kProjectFile, rule.line)};
  }
  if (!sidecar) return choice;
  const CookerChoice own = ChoiceOfSidecar(fmt::format("{}{}", package, kSidecarSuffix), *sidecar);
  const bool decides = !choice || (!own.cooker.empty() && own.cooker != choice->cooker);
  return decides ? own : choice;
}

}  // namespace galley::project
