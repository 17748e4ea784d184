#include "common/project/resolver.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/project/value_reader.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace galley::project {
namespace {

using nlohmann::json;

// One place that gives keys of [[rule]].
struct Layer {
  const RuleBody* body = nullptr;
  std::string origin;  // "galley.toml:12", "/Game/a.png.cook"
};

// Settings of one platform while layers are laid on each other.
struct Settled {
  std::optional<std::string> cooker;
  std::string cooker_origin;
  json settings = json::object();
  std::map<std::string, std::string> origins;  // top-level setting -> who gave it last
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

absl::Status MergeText(std::string_view text, const std::string& origin, Settled& settled) {
  if (text.empty()) return absl::OkStatus();
  const json over = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!over.is_object()) {
    return absl::InvalidArgumentError(fmt::format("{}: settings must be a JSON object", origin));
  }
  Merge(over, settled.settings);
  for (const auto& [key, value] : over.items()) settled.origins[key] = origin;
  return absl::OkStatus();
}

absl::StatusOr<Settled> Settle(std::span<const Layer> layers, const std::string& platform) {
  Settled settled;
  for (const Layer& layer : layers) {
    const std::optional<std::string>& cooker = layer.body->cooker;
    if (cooker && cooker != settled.cooker) {
      if (settled.cooker) {
        settled.settings = json::object();
        settled.origins.clear();
      }
      settled.cooker = cooker;
      settled.cooker_origin = layer.origin;
    }
    RETURN_IF_ERROR(MergeText(layer.body->settings, layer.origin, settled));
    const auto own = layer.body->platform_settings.find(platform);
    if (own == layer.body->platform_settings.end()) continue;
    RETURN_IF_ERROR(MergeText(own->second, layer.origin, settled));
  }
  return settled;
}

Needs SettleNeeds(std::span<const Layer> layers) {
  Needs needs;
  for (const Layer& layer : layers) {
    if (layer.body->resources) needs.resources = *layer.body->resources;
    if (layer.body->memory_bytes) needs.memory_bytes = *layer.body->memory_bytes;
    if (layer.body->timeout) needs.timeout = *layer.body->timeout;
    if (layer.body->labels) needs.labels = *layer.body->labels;
  }
  return needs;
}

// The place to look for what ResolveSettings complains about: who gave the setting that it names
// ("setting NAME"), else who named the cooker.
std::string Culprit(const Settled& settled, const std::string& message) {
  for (const auto& [setting, origin] : settled.origins) {
    const std::string named = "setting " + setting;
    const size_t at = message.find(named);
    if (at == std::string::npos) continue;
    const size_t end = at + named.size();
    const bool is_whole = end == message.size() ||
                          std::string_view(" ;:,.").find(message[end]) != std::string_view::npos;
    if (is_whole) return origin;
  }
  return settled.cooker_origin;
}

}  // namespace

struct RecipeResolver::Impl {
  std::vector<Platform> platforms;
  std::vector<std::string> platform_names;
  std::vector<Rule> rules;
  bool ignores_case = false;  // one of them
  std::map<std::string, record::CookerDescription> cookers;
  std::vector<std::string> cooker_names;

  mutable base::Mutex mutex;
  mutable std::map<std::string, std::shared_ptr<const ResolvedRecipes>> remembered
      GALLEY_GUARDED_BY(mutex);

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
    return std::any_of(matching.begin(), matching.end(),
                       [&](size_t i) { return rules[i].body.cooker.has_value(); });
  }

  absl::StatusOr<const record::CookerDescription*> FindCooker(const Settled& settled,
                                                              const std::string& extension) const {
    if (settled.cooker) {
      const auto found = cookers.find(*settled.cooker);
      if (found != cookers.end()) return &found->second;
      return absl::InvalidArgumentError(fmt::format(
          "{}: {}", settled.cooker_origin, UnknownName("cooker", *settled.cooker, cooker_names)));
    }
    std::vector<const record::CookerDescription*> takers;
    std::vector<std::string> names;
    for (const auto& [name, cooker] : cookers) {
      const auto& taken = cooker.extensions;
      if (std::find(taken.begin(), taken.end(), extension) == taken.end()) continue;
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

  absl::StatusOr<ResolvedRecipe> ResolveOne(std::span<const Layer> layers,
                                            const std::string& platform,
                                            const std::string& extension) const {
    ASSIGN_OR_RETURN(const Settled settled, Settle(layers, platform));
    const absl::StatusOr<const record::CookerDescription*> cooker = FindCooker(settled, extension);
    if (!cooker.ok())
      return settled.cooker ? cooker.status() : Annotate(cooker.status(), layers.back().origin);
    absl::StatusOr<std::string> settings =
        record::ResolveSettings(**cooker, settled.settings.dump());
    if (!settings.ok())
      return Annotate(settings.status(), Culprit(settled, MessageOf(settings.status())));
    ResolvedRecipe resolved;
    resolved.recipe = {.cooker = (*cooker)->name,
                       .identity = (*cooker)->identity,
                       .extension = extension,
                       .settings = *std::move(settings)};
    resolved.digest = record::RecipeDigest(resolved.recipe);
    return resolved;
  }

  absl::StatusOr<ResolvedRecipes> ResolveLayers(std::span<const Layer> layers,
                                                const std::string& extension) const {
    const Needs needs = SettleNeeds(layers);
    ResolvedRecipes recipes;
    for (const Platform& platform : platforms) {
      ASSIGN_OR_RETURN(ResolvedRecipe resolved, ResolveOne(layers, platform.name, extension));
      resolved.needs = needs;
      recipes.push_back(std::move(resolved));
    }
    return recipes;
  }

  // `top` lies on what the rules say. `top_identity` tells different tops apart.
  absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> Resolve(
      std::string_view package, std::span<const size_t> matching, const std::optional<Layer>& top,
      std::string_view top_identity) const {
    const std::string extension = content::ExtensionOf(package);
    const std::string key = fmt::format("{}|{}|{}|{}", fmt::join(matching, ","), extension,
                                        top ? "top" : "", top_identity);
    {
      const base::MutexLock lock(mutex);
      const auto found = remembered.find(key);
      if (found != remembered.end()) return found->second;
    }
    std::vector<Layer> layers;
    for (const size_t i : matching) {
      layers.push_back({&rules[i].body, fmt::format("{}:{}", kProjectFile, rules[i].line)});
    }
    if (top) layers.push_back(*top);
    ASSIGN_OR_RETURN(ResolvedRecipes recipes, ResolveLayers(layers, extension));
    auto shared = std::make_shared<const ResolvedRecipes>(std::move(recipes));
    const base::MutexLock lock(mutex);
    return remembered.emplace(key, std::move(shared)).first->second;
  }
};

RecipeResolver::RecipeResolver(const Project& project,
                               std::vector<record::CookerDescription> cookers)
    : impl_(std::make_unique<Impl>()) {
  impl_->platforms = project.platforms;
  for (const Platform& platform : project.platforms) impl_->platform_names.push_back(platform.name);
  impl_->rules = project.rules;
  impl_->ignores_case = std::any_of(project.rules.begin(), project.rules.end(),
                                    [](const Rule& rule) { return rule.ignore_case; });
  for (record::CookerDescription& cooker : cookers) {
    const std::string name = cooker.name;
    impl_->cookers.insert_or_assign(name, std::move(cooker));
  }
  for (const auto& [name, cooker] : impl_->cookers) impl_->cooker_names.push_back(name);
}

RecipeResolver::~RecipeResolver() = default;

absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> RecipeResolver::Resolve(
    std::string_view package, const std::optional<std::string>& sidecar) const {
  if (IsSidecar(package)) return nullptr;
  const std::vector<size_t> matching = impl_->MatchingRules(package);
  if (!sidecar) {
    if (!impl_->NamesCooker(matching)) return nullptr;
    return impl_->Resolve(package, matching, std::nullopt, "");
  }
  const std::string file = std::string(package) + std::string(kSidecarSuffix);
  ASSIGN_OR_RETURN(const RuleBody body, ParseSidecar(*sidecar, file));
  for (const auto& [name, settings] : body.platform_settings) {
    const auto& known = impl_->platform_names;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: {}", file, UnknownName("platform", name, known)));
  }
  return impl_->Resolve(package, matching, Layer{&body, file}, Digest::Of(*sidecar).ToString());
}

absl::StatusOr<std::shared_ptr<const ResolvedRecipes>> RecipeResolver::ResolveGenerated(
    std::string_view package, std::string_view cooker, std::string_view settings_json) const {
  RuleBody body;
  if (!cooker.empty()) body.cooker = std::string(cooker);
  body.settings = std::string(settings_json);
  const std::string identity = fmt::format("generated {} {}", cooker, settings_json);
  return impl_->Resolve(package, impl_->MatchingRules(package),
                        Layer{&body, fmt::format("generated {}", package)}, identity);
}

bool RecipeResolver::MatchesAnyRule(std::string_view path) const {
  return !IsSidecar(path) && impl_->NamesCooker(impl_->MatchingRules(path));
}

}  // namespace galley::project
