#include "common/record/output_names.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/record/cooker_description.h"
#include "common/record/result.h"
#include "fmt/format.h"

namespace galley::record {
namespace {

using nlohmann::json;

// Settings that are parsed when somebody asks for the first of them.
class LazySettings {
 public:
  explicit LazySettings(std::string_view text) : text_(text) {}
  // nullptr: the setting was not given, and has no default.
  const json* Find(const std::string& name) {
    if (!parsed_) parsed_ = json::parse(text_, nullptr, /*allow_exceptions=*/false);
    const auto found = parsed_->find(name);  // end() for what is no object
    return found == parsed_->end() ? nullptr : &*found;
  }

 private:
  const std::string_view text_;
  std::optional<json> parsed_;
};

bool HoldsFor(const OutputRule& rule, LazySettings& settings,
              const PlatformParameters& parameters) {
  if (!rule.when_parameter.empty()) {
    const auto parameter = parameters.find(rule.when_parameter);
    if (parameter == parameters.end() || !parameter->second.starts_with(rule.parameter_prefix))
      return false;
  }
  if (rule.when_setting.empty()) return true;
  const json* const setting = settings.Find(rule.when_setting);
  return setting != nullptr && setting->is_string() &&
         setting->get_ref<const std::string&>() == rule.setting_value;
}

// The members of a setting, as they stand in suffixes (OutputRule::each_setting).
std::vector<std::string> MembersOf(const json& setting) {
  std::vector<std::string> members;
  if (setting.is_object()) {
    for (const auto& [key, value] : setting.items()) members.push_back(key);
  } else if (setting.is_array()) {
    for (size_t i = 0; i < setting.size(); ++i) {
      members.push_back(setting[i].is_string() ? setting[i].get<std::string>()
                                               : fmt::format("{}", i + 1));
    }
  }
  return members;
}

std::string WithMember(std::string suffix, const std::string& member) {
  const size_t place = suffix.find(kMemberPlace);
  return place == std::string::npos ? suffix : suffix.replace(place, 1, member);
}

void AddSuffixes(const OutputRule& rule, LazySettings& settings,
                 std::vector<std::string>& suffixes) {
  if (rule.each_setting.empty()) {
    suffixes.push_back(rule.suffix);
    return;
  }
  const json* const setting = settings.Find(rule.each_setting);
  if (setting == nullptr) return;
  for (const std::string& member : MembersOf(*setting))
    suffixes.push_back(WithMember(rule.suffix, member));
}

bool MayGenerate(const CookerDescription& cooker, LazySettings& settings) {
  if (!cooker.may_generate || cooker.generates_if.empty()) return cooker.may_generate;
  const json* const setting = settings.Find(cooker.generates_if);
  if (setting == nullptr) return false;
  if (!cooker.generates_if_has.empty())
    return setting->dump().find(cooker.generates_if_has) != std::string::npos;
  const auto described =
      std::ranges::find(cooker.settings, cooker.generates_if, &SettingDescription::name);
  return described == cooker.settings.end() ||
         *setting != json::parse(described->default_json, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

OutputNames OutputNamesOf(const CookerDescription& cooker, std::string_view settings_json,
                          const PlatformParameters& parameters) {
  LazySettings settings(settings_json);
  OutputNames names{
      .always = {}, .has_more = cooker.has_more, .may_generate = MayGenerate(cooker, settings)};
  for (const OutputRule& rule : cooker.outputs) {
    if (HoldsFor(rule, settings, parameters)) AddSuffixes(rule, settings, names.always);
  }
  std::erase_if(names.always,
                [](const std::string& suffix) { return !ValidateSuffix(suffix).ok(); });
  std::ranges::sort(names.always);
  const auto doubles = std::ranges::unique(names.always);
  names.always.erase(doubles.begin(), doubles.end());
  return names;
}

bool MayHaveOutput(const OutputNames& names, std::string_view suffix) {
  return std::binary_search(names.always.begin(), names.always.end(), suffix) ||
         (names.has_more && suffix.starts_with(kFurtherOutputs));
}

}  // namespace galley::record
