#include "common/project/resolver.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/errors.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/check_settings.h"
#include "common/toml/value_reader.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace galley::project {
namespace {

using nlohmann::json;

// A place that gives keys of [[rule]].
struct Layer {
  const RuleBody* body = nullptr;
  std::string file;  // "galley.toml", "content/a.png.cook"
  int line = 0;      // for what has no line of its own; 0: none

  std::string PlaceAt(int own_line) const {
    const int best = own_line > 0 ? own_line : line;
    return best > 0 ? fmt::format("{}:{}", file, best) : file;
  }
  std::string PlaceOf(const SettingLines& lines, const std::string& setting) const {
    const auto found = lines.find(setting);
    return PlaceAt(found == lines.end() ? 0 : found->second);
  }
};

// Settings of one platform while layers are laid on each other.
struct Settled {
  std::optional<std::string> cooker;
  std::string cooker_place;
  json settings = json::object();
  std::map<std::string, std::string> places;  // top-level setting -> who gave it last
};

// Tables merge key by key; all else replaces.
void Merge(const json& over, json& under) {
  for (const auto& [key, value] : over.items()) {
    json& place = under[key];
    if (value.is_object() && place.is_object()) {
      Merge(value, place);
    } else {
      place = value;
    }
  }
}

absl::Status MergeText(std::string_view text, const Layer& layer, const SettingLines& lines,
                       Settled& settled) {
  if (text.empty()) return absl::OkStatus();
  const json over = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!over.is_object()) {
    return InvalidArgumentError("{}: settings must be a JSON object", layer.PlaceAt(0));
  }
  Merge(over, settled.settings);
  for (const auto& [key, value] : over.items()) settled.places[key] = layer.PlaceOf(lines, key);
  return absl::OkStatus();
}

const SettingLines& LinesFor(const RuleBody& body, const std::string& platform) {
  static const SettingLines kNone;
  const auto found = body.platform_setting_lines.find(platform);
  return found == body.platform_setting_lines.end() ? kNone : found->second;
}

absl::StatusOr<Settled> Settle(std::span<const Layer> layers, const std::string& platform) {
  Settled settled;
  for (const Layer& layer : layers) {
    const RuleBody& body = *layer.body;
    if (body.cooker && body.cooker != settled.cooker) {
      if (settled.cooker) {
        settled.settings = json::object();
        settled.places.clear();
      }
      settled.cooker = body.cooker;
      settled.cooker_place = layer.PlaceAt(body.cooker_line);
    }
    RETURN_IF_ERROR(MergeText(body.settings, layer, body.setting_lines, settled));
    const auto own = body.platform_settings.find(platform);
    if (own == body.platform_settings.end()) continue;
    RETURN_IF_ERROR(MergeText(own->second, layer, LinesFor(body, platform), settled));
  }
  return settled;
}

Needs SettleNeeds(std::span<const Layer> layers, const record::WarningRules& of_project) {
  Needs needs;
  needs.warnings = of_project;
  for (const Layer& layer : layers) {
    if (layer.body->resources) needs.resources = *layer.body->resources;
    if (layer.body->keeps_lfs_pointers) needs.keeps_lfs_pointers = *layer.body->keeps_lfs_pointers;
    if (layer.body->memory_bytes) needs.memory_bytes = *layer.body->memory_bytes;
    if (layer.body->timeout) needs.timeout = *layer.body->timeout;
    if (layer.body->labels) needs.labels = *layer.body->labels;
    needs.warnings.Add(layer.body->warnings);
  }
  return needs;
}

bool SaysNothing(const RuleBody& body) {
  return !body.cooker && body.settings.empty() && body.platform_lines.empty() && !body.resources &&
         !body.keeps_lfs_pointers && !body.memory_bytes && !body.timeout && !body.labels;
}

void AddOnce(std::string text, std::vector<std::string>& errors) {
  if (std::ranges::find(errors, text) == errors.end()) errors.push_back(std::move(text));
}

}  // namespace

struct RecipeResolver::Impl {
  std::vector<Platform> platforms;
  std::vector<std::string> platform_names;
  std::vector<Rule> rules;
  record::WarningRules warnings;  // of the project
  bool ignores_case = false;      // one of them
  std::map<std::string, record::CookerDescription> cookers;
  std::vector<std::string> cooker_names;

  struct Remembered {
    std::shared_ptr<const ResolvedRecipes> recipes;  // nullptr: `errors` say why
    std::vector<std::string> errors;
  };
  mutable base::Mutex mutex;
  mutable std::map<std::string, Remembered> remembered GALLEY_GUARDED_BY(mutex);

  std::vector<size_t> MatchingRules(std::string_view path) const {
    std::vector<size_t> matching;
    const std::string lower =
        ignores_case ? absl::AsciiStrToLower(absl::string_view(path.data(), path.size())) : "";
    for (size_t i = 0; i < rules.size(); ++i) {
      if (rules[i].match.Matches(rules[i].ignore_case ? lower : path)) matching.push_back(i);
    }
    return matching;
  }

  bool NamesCooker(std::span<const size_t> matching) const {
    return std::ranges::any_of(matching,
                               [&](size_t i) { return rules[i].body.cooker.has_value(); });
  }

  std::string UnknownCooker(const std::string& place, const std::string& name) const {
    return fmt::format("{}: {}", place, UnknownName("cooker", name, cooker_names));
  }

  absl::StatusOr<const record::CookerDescription*> FindCooker(const Settled& settled,
                                                              const std::string& extension) const {
    if (settled.cooker) {
      const auto found = cookers.find(*settled.cooker);
      if (found != cookers.end()) return &found->second;
      return absl::InvalidArgumentError(UnknownCooker(settled.cooker_place, *settled.cooker));
    }
    std::vector<const record::CookerDescription*> takers;
    std::vector<std::string> names;
    for (const auto& [name, cooker] : cookers) {
      const auto& taken = cooker.extensions;
      if (std::ranges::find(taken, extension) == taken.end()) continue;
      takers.push_back(&cooker);
      names.push_back(name);
    }
    if (takers.size() == 1) return takers[0];
    return absl::InvalidArgumentError(
        takers.empty()
            ? fmt::format("no rule names a cooker, and none takes `.{}` by itself; say `cooker = "
                          "\"...\"` (one of {})",
                          extension, fmt::join(cooker_names, ", "))
            : fmt::format(
                  "no rule names a cooker, and several take `.{}` ({}); say `cooker = \"...\"`",
                  extension, fmt::join(names, ", ")));
  }

  // nullopt: `errors` say why.
  std::optional<ResolvedRecipe> ResolveOne(std::span<const Layer> layers, const Platform& platform,
                                           const std::string& extension,
                                           std::vector<std::string>& errors) const {
    const absl::StatusOr<Settled> settled = Settle(layers, platform.name);
    if (!settled.ok()) {
      AddOnce(MessageOf(settled.status()), errors);
      return std::nullopt;
    }
    const absl::StatusOr<const record::CookerDescription*> cooker = FindCooker(*settled, extension);
    if (!cooker.ok()) {
      AddOnce(MessageOf(settled->cooker ? cooker.status()
                                        : Annotate(cooker.status(), layers.back().PlaceAt(0))),
              errors);
      return std::nullopt;
    }
    const std::string given = settled->settings.dump();
    absl::StatusOr<std::string> settings = record::ResolveSettings(**cooker, given);
    if (!settings.ok()) {
      for (const record::SettingError& error : record::CheckSettings(**cooker, given)) {
        const auto place = settled->places.find(error.setting);
        AddOnce(fmt::format("{}: {}",
                            place != settled->places.end() ? place->second
                            : settled->cooker              ? settled->cooker_place
                                                           : layers.back().PlaceAt(0),
                            error.text),
                errors);
      }
      return std::nullopt;
    }
    ResolvedRecipe resolved;
    resolved.recipe = {.cooker = (*cooker)->name,
                       .identity = (*cooker)->identity,
                       .extension = extension,
                       .settings = *std::move(settings)};
    resolved.digest = record::RecipeDigest(resolved.recipe);
    resolved.source_bytes_max = (*cooker)->source_bytes_max;
    resolved.holds_source = (*cooker)->holds_source;
    resolved.looks = record::AlwaysLooksOf(**cooker, extension, resolved.recipe.settings);
    resolved.outputs =
        record::OutputNamesOf(**cooker, resolved.recipe.settings, platform.parameters);
    return resolved;
  }

  Remembered ResolveLayers(std::span<const Layer> layers, const std::string& extension) const {
    const Needs needs = SettleNeeds(layers, warnings);
    ResolvedRecipes recipes;
    std::vector<std::string> errors;
    for (const Platform& platform : platforms) {
      std::optional<ResolvedRecipe> resolved = ResolveOne(layers, platform, extension, errors);
      if (!resolved) continue;
      resolved->needs = needs;
      recipes.push_back(*std::move(resolved));
    }
    if (!errors.empty()) return {nullptr, std::move(errors)};
    return {std::make_shared<const ResolvedRecipes>(std::move(recipes)), {}};
  }

  static absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> AnswerOf(
      const Remembered& known, std::vector<std::string>* errors) {
    if (known.recipes != nullptr) return known.recipes;
    if (errors != nullptr) *errors = known.errors;
    return absl::InvalidArgumentError(known.errors.front());
  }

  // `top` lies on what the rules say. `top_identity` tells different tops apart; what is wrong with
  // one is not remembered: it may lie elsewhere next time.
  absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> Resolve(
      std::string_view package, std::span<const size_t> matching, const std::optional<Layer>& top,
      std::string_view top_identity, std::vector<std::string>* errors) const {
    const std::string extension = content::ExtensionOf(package);
    const std::string key = fmt::format("{}|{}|{}|{}", fmt::join(matching, ","), extension,
                                        top ? "top" : "", top_identity);
    {
      const base::MutexLock lock(mutex);
      const auto found = remembered.find(key);
      if (found != remembered.end()) return AnswerOf(found->second, errors);
    }
    std::vector<Layer> layers;
    for (const size_t i : matching)
      layers.push_back({&rules[i].body, std::string(kProjectFile), rules[i].line});
    if (top) layers.push_back(*top);
    Remembered resolved = ResolveLayers(layers, extension);
    if (resolved.recipes == nullptr && top) return AnswerOf(resolved, errors);
    const base::MutexLock lock(mutex);
    return AnswerOf(remembered.emplace(key, std::move(resolved)).first->second, errors);
  }

  // The settings of a rule that `cooker` refuses. A missing setting is no error: it may come from
  // another rule.
  static std::map<std::string, std::string> Refused(const record::CookerDescription& cooker,
                                                    std::string_view settings) {
    std::map<std::string, std::string> refused;
    for (record::SettingError& error : record::CheckSettings(cooker, settings)) {
      if (!error.is_missing) refused.emplace(std::move(error.setting), std::move(error.text));
    }
    return refused;
  }

  // The settings that no cooker at all takes, in a rule that names no cooker.
  std::map<std::string, std::string> RefusedByAll(std::string_view settings) const {
    std::optional<std::map<std::string, std::string>> refused;
    std::map<std::string, const record::CookerDescription*> owners;  // setting -> any that has it
    for (const auto& [name, cooker] : cookers) {
      std::map<std::string, std::string> own = Refused(cooker, settings);
      for (const record::SettingDescription& setting : cooker.settings) {
        if (own.contains(setting.name)) owners.emplace(setting.name, &cooker);
      }
      if (!refused) {
        refused = std::move(own);
      } else {
        std::erase_if(*refused, [&](const auto& error) { return !own.contains(error.first); });
      }
    }
    if (!refused) return {};
    for (auto& [setting, text] : *refused) {
      const auto owner = owners.find(setting);
      text = owner == owners.end() ? UnknownName("setting", setting, AllSettings())
                                   : Refused(*owner->second, settings).at(setting);
    }
    return *refused;
  }

  std::vector<std::string> AllSettings() const {
    std::vector<std::string> names;
    for (const auto& [name, cooker] : cookers) {
      for (const record::SettingDescription& setting : cooker.settings)
        names.push_back(setting.name);
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  void CheckRule(const Rule& rule, std::vector<std::string>& errors) const {
    const RuleBody& body = rule.body;
    const Layer layer{&body, std::string(kProjectFile), rule.line};
    const record::CookerDescription* cooker = nullptr;
    if (body.cooker) {
      const auto found = cookers.find(*body.cooker);
      if (found == cookers.end())
        return AddOnce(UnknownCooker(layer.PlaceAt(body.cooker_line), *body.cooker), errors);
      cooker = &found->second;
    }
    const auto check = [&](const std::string& settings, const SettingLines& lines) {
      if (settings.empty()) return;
      for (const auto& [setting, text] :
           cooker != nullptr ? Refused(*cooker, settings) : RefusedByAll(settings))
        AddOnce(fmt::format("{}: {}", layer.PlaceOf(lines, setting), text), errors);
    };
    check(body.settings, body.setting_lines);
    for (const auto& [platform, settings] : body.platform_settings)
      check(settings, LinesFor(body, platform));
  }
};

RecipeResolver::RecipeResolver(const Project& project,
                               std::vector<record::CookerDescription> cookers)
    : impl_(std::make_unique<Impl>()) {
  impl_->platforms = project.platforms;
  for (const Platform& platform : project.platforms) impl_->platform_names.push_back(platform.name);
  impl_->rules = project.rules;
  impl_->warnings = project.warnings;
  impl_->ignores_case =
      std::ranges::any_of(project.rules, [](const Rule& rule) { return rule.ignore_case; });
  for (record::CookerDescription& cooker : cookers) {
    const std::string name = cooker.name;
    impl_->cookers.insert_or_assign(name, std::move(cooker));
  }
  for (const auto& [name, cooker] : impl_->cookers) impl_->cooker_names.push_back(name);
}

RecipeResolver::~RecipeResolver() = default;

absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> RecipeResolver::Resolve(
    std::string_view package, const std::optional<Sidecar>& sidecar,
    std::vector<std::string>* errors) const {
  if (IsSidecar(package)) return nullptr;
  const std::vector<size_t> matching = impl_->MatchingRules(package);
  if (!sidecar) {
    if (!impl_->NamesCooker(matching)) return nullptr;
    return impl_->Resolve(package, matching, std::nullopt, "", errors);
  }
  const std::string file =
      sidecar->file.empty() ? std::string(package) + std::string(kSidecarSuffix) : sidecar->file;
  const auto refuse = [&](const absl::Status& status) {
    if (errors != nullptr) *errors = {MessageOf(status)};
    return status;
  };
  const absl::StatusOr<RuleBody> body = ParseSidecar(sidecar->text, file);
  if (!body.ok()) return refuse(body.status());
  for (const auto& [name, line] : body->platform_lines) {
    const auto& known = impl_->platform_names;
    if (std::ranges::find(known, name) != known.end()) continue;
    return refuse(ErrorAt(file, line, UnknownName("platform", name, known)));
  }
  return impl_->Resolve(package, matching, Layer{&*body, file},
                        Digest::Of(sidecar->text).ToString(), errors);
}

absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> RecipeResolver::ResolveGenerated(
    std::string_view package, std::string_view cooker, std::string_view settings_json) const {
  RuleBody body;
  if (!cooker.empty()) body.cooker = std::string(cooker);
  body.settings = std::string(settings_json);
  const std::string identity = fmt::format("generated {} {}", cooker, settings_json);
  const std::string_view generator = package.substr(0, package.rfind("/_gen/"));
  return impl_->Resolve(package, impl_->MatchingRules(package),
                        Layer{&body, fmt::format("generated by {}", generator)}, identity, nullptr);
}

std::vector<std::string> RecipeResolver::CheckRules() const {
  std::vector<std::string> errors;
  for (const Rule& rule : impl_->rules) impl_->CheckRule(rule, errors);
  return errors;
}

int RecipeResolver::RuleLineOf(std::string_view path) const {
  int line = 0;
  for (const size_t i : impl_->MatchingRules(path)) {
    if (impl_->rules[i].body.cooker) line = impl_->rules[i].line;
  }
  return line;
}

bool RecipeResolver::IsSetAside(std::string_view path) const {
  const auto matching = impl_->MatchingRules(path);
  return std::ranges::any_of(matching, [&](size_t i) { return SaysNothing(impl_->rules[i].body); });
}

}  // namespace galley::project
