#include "common/record/cooker_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/record/check_settings.h"
#include "common/record/recipe.h"
#include "common/record/result.h"

namespace galley::record {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kSchema = "galley.cookers.v2";

struct TypeInfo {
  SettingType type;
  const char* name;
};
constexpr TypeInfo kTypes[] = {
    {SettingType::kBool, "bool"},
    {SettingType::kInteger, "integer"},
    {SettingType::kNumber, "number"},
    {SettingType::kString, "string"},
    {SettingType::kStringList, "string list"},
    {SettingType::kNumberList, "number list"},
    {SettingType::kTable, "table"},
    {SettingType::kChoice, "choice"},
};

std::string_view TypeName(SettingType type) {
  for (const TypeInfo& info : kTypes) {
    if (info.type == type) return info.name;
  }
  return "unknown";
}

std::string Joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

bool IsStringList(const json& value) {
  return value.is_array() &&
         std::ranges::all_of(value, [](const json& e) { return e.is_string(); });
}

bool IsNumberList(const json& value) {
  return value.is_array() &&
         std::ranges::all_of(value, [](const json& e) { return e.is_number(); });
}

bool HasType(const SettingDescription& setting, const json& value) {
  switch (setting.type) {
    case SettingType::kBool:
      return value.is_boolean();
    case SettingType::kInteger:
      return value.is_number_integer();
    case SettingType::kNumber:
      return value.is_number();
    case SettingType::kString:
      return value.is_string();
    case SettingType::kStringList:
      return IsStringList(value);
    case SettingType::kNumberList:
      return IsNumberList(value);
    case SettingType::kTable:
      return value.is_object();
    case SettingType::kChoice:
      return value.is_string() &&
             std::ranges::find(setting.choices, value.get_ref<const std::string&>()) !=
                 setting.choices.end();
  }
  return false;
}

std::string WrongType(const CookerDescription& cooker, const SettingDescription& setting,
                      const json& value) {
  if (setting.type != SettingType::kChoice) {
    return fmt::format("setting \"{}\" of cooker \"{}\" is {}: expected {}", setting.name,
                       cooker.name, value.dump(), TypeName(setting.type));
  }
  const std::string near =
      value.is_string() ? Nearest(value.get_ref<const std::string&>(), setting.choices) : "";
  return fmt::format("setting \"{}\" of cooker \"{}\" is {}: expected one of {}{}", setting.name,
                     cooker.name, value.dump(), Joined(setting.choices),
                     near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near));
}

std::string UnknownSetting(const CookerDescription& cooker, std::string_view name) {
  std::vector<std::string> known;
  for (const SettingDescription& setting : cooker.settings) known.push_back(setting.name);
  const std::string near = Nearest(name, known);
  return fmt::format("cooker \"{}\" has no setting \"{}\"; {}", cooker.name, name,
                     near.empty()
                         ? fmt::format("it has: {}", known.empty() ? "none" : Joined(known))
                         : fmt::format("did you mean \"{}\"?", near));
}

ordered_json ToJson(const SettingDescription& setting) {
  ordered_json value;
  value["name"] = setting.name;
  value["type"] = TypeName(setting.type);
  value["default"] = ordered_json::parse(setting.default_json, nullptr, false);
  if (value["default"].is_discarded()) value["default"] = nullptr;
  if (!setting.choices.empty()) value["choices"] = setting.choices;
  if (setting.required) value["required"] = true;
  value["documentation"] = setting.documentation;
  return value;
}

ordered_json ToJson(const LookDescription& look) {
  ordered_json value;
  value["kind"] = KindName(look.kind);
  if (!look.subject.empty()) value["subject"] = look.subject;
  if (!look.extensions.empty()) value["extensions"] = look.extensions;
  if (!look.unless_setting.empty()) value["unless_setting"] = look.unless_setting;
  if (look.in_verdicts) value["in_verdicts"] = true;
  return value;
}

ordered_json ToJson(const OutputRule& rule) {
  ordered_json value;
  value["suffix"] = rule.suffix;
  if (!rule.each_setting.empty()) value["each"] = rule.each_setting;
  if (!rule.when_setting.empty()) {
    value["setting"] = rule.when_setting;
    value["is"] = rule.setting_value;
  }
  if (!rule.when_parameter.empty()) {
    value["parameter"] = rule.when_parameter;
    value["begins"] = rule.parameter_prefix;
  }
  return value;
}

ordered_json ToJson(const CookerDescription& cooker) {
  ordered_json value;
  value["name"] = cooker.name;
  value["identity"] = cooker.identity;
  value["extensions"] = cooker.extensions;
  value["outputs"] = ordered_json::array();
  for (const OutputRule& rule : cooker.outputs) value["outputs"].push_back(ToJson(rule));
  if (cooker.has_more) value["has_more"] = true;
  if (cooker.may_generate) value["may_generate"] = true;
  if (!cooker.generates_if.empty()) value["generates_if"] = cooker.generates_if;
  if (!cooker.generates_if_has.empty()) value["generates_if_has"] = cooker.generates_if_has;
  value["documentation"] = cooker.documentation;
  if (cooker.source_bytes_max > 0) value["source_bytes_max"] = cooker.source_bytes_max;
  value["holds_source"] = cooker.holds_source;
  value["settings"] = ordered_json::array();
  for (const SettingDescription& setting : cooker.settings)
    value["settings"].push_back(ToJson(setting));
  for (const LookDescription& look : cooker.looks) value["looks"].push_back(ToJson(look));
  return value;
}

// The members of one JSON object, read by name and type; remembers the first error, which names the
// place.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) Fail("", "an object");
  }
  std::string String(const char* name) {
    const json* value = Member(name);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    Fail(name, "a string");
    return "";
  }
  std::vector<std::string> Strings(const char* name, bool is_optional = false) {
    const json* value = Member(name);
    if (value == nullptr && is_optional) return {};
    if (value != nullptr && IsStringList(*value)) return value->get<std::vector<std::string>>();
    Fail(name, "a list of strings");
    return {};
  }
  uint64_t Count(const char* name) {
    const json* value = Member(name);
    if (value == nullptr) return 0;
    if (!value->is_number_unsigned()) Fail(name, "a whole number, not negative");
    return value->is_number_unsigned() ? value->get<uint64_t>() : 0;
  }
  bool Flag(const char* name, bool otherwise = false) {
    const json* value = Member(name);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) Fail(name, "true or false");
    return value->is_boolean() && value->get<bool>();
  }
  const json& List(const char* name) {
    static const json kNone = json::array();
    const json* value = Member(name);
    if (value != nullptr && value->is_array()) return *value;
    Fail(name, "a list");
    return kNone;
  }
  const json* Member(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void Fail(const char* name, std::string_view expected) {
    if (!status_.ok()) return;
    status_ = InvalidArgumentError("{}{}{}: expected {}", place_, *name == '\0' ? "" : ".", name,
                                   expected);
  }
  const absl::Status& status() const { return status_; }

 private:
  const json& object_;
  std::string place_;
  absl::Status status_;
};

absl::StatusOr<SettingDescription> SettingFromJson(const json& object, std::string place) {
  ObjectReader reader(object, std::move(place));
  SettingDescription setting;
  setting.name = reader.String("name");
  setting.choices = reader.Strings("choices", true);
  setting.documentation = reader.String("documentation");
  setting.required = reader.Flag("required");
  const std::string type = reader.String("type");
  const auto* known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeInfo& info) { return info.name == type; });
  if (known == std::end(kTypes)) {
    reader.Fail("type", "bool, integer, number, string, string list, number list, table or choice");
  } else {
    setting.type = known->type;
  }
  const json* value = reader.Member("default");
  ASSIGN_OR_RETURN(setting.default_json, CanonicalJson(value == nullptr ? "null" : value->dump()));
  if (value != nullptr && !value->is_null() && !HasType(setting, *value))
    reader.Fail("default", type);
  if (!reader.status().ok()) return reader.status();
  return setting;
}

constexpr ObservationKind kLookKinds[] = {
    ObservationKind::kFile, ObservationKind::kExists, ObservationKind::kList,
    ObservationKind::kGlob, ObservationKind::kCooked, ObservationKind::kPlatform,
    ObservationKind::kTool, ObservationKind::kEnv,    ObservationKind::kName};

absl::StatusOr<LookDescription> LookFromJson(const json& object, std::string place) {
  ObjectReader reader(object, std::move(place));
  LookDescription look;
  const std::string kind = reader.String("kind");
  const auto* known = std::find_if(std::begin(kLookKinds), std::end(kLookKinds),
                                   [&](ObservationKind one) { return KindName(one) == kind; });
  if (known == std::end(kLookKinds)) {
    reader.Fail("kind", "a kind of observation (file, platform, tool, ...)");
  } else {
    look.kind = *known;
  }
  if (reader.Member("subject") != nullptr) look.subject = reader.String("subject");
  look.extensions = reader.Strings("extensions", true);
  if (reader.Member("unless_setting") != nullptr)
    look.unless_setting = reader.String("unless_setting");
  look.in_verdicts = reader.Flag("in_verdicts");
  if (!reader.status().ok()) return reader.status();
  return look;
}

bool HasMembers(SettingType type) {
  return type == SettingType::kStringList || type == SettingType::kNumberList ||
         type == SettingType::kTable;
}

bool IsText(SettingType type) {
  return type == SettingType::kString || type == SettingType::kChoice;
}

// Whether one of `settings` has this name, which is not empty, and a type that `fits`.
bool HasSetting(const std::vector<SettingDescription>& settings, const std::string& name,
                bool (*fits)(SettingType)) {
  return !name.empty() && std::ranges::any_of(settings, [&](const SettingDescription& setting) {
    return setting.name == name && fits(setting.type);
  });
}

absl::StatusOr<OutputRule> RuleFromJson(const json& object, std::string place,
                                        const std::vector<SettingDescription>& settings) {
  ObjectReader reader(object, std::move(place));
  OutputRule rule;
  rule.suffix = reader.String("suffix");
  if (reader.Member("each") != nullptr) {
    rule.each_setting = reader.String("each");
    if (!HasSetting(settings, rule.each_setting, HasMembers))
      reader.Fail("each", "a setting of the cooker that is a list or a table");
    if (rule.suffix.find(kMemberPlace) == std::string::npos)
      reader.Fail("suffix", "a * for the members");
  } else if (!ValidateSuffix(rule.suffix).ok()) {
    reader.Fail("suffix", "the suffix of an output");
  }
  if (reader.Member("setting") != nullptr) {
    rule.when_setting = reader.String("setting");
    rule.setting_value = reader.String("is");
    if (!HasSetting(settings, rule.when_setting, IsText))
      reader.Fail("setting", "a setting of the cooker that is a choice or a string");
  }
  if (reader.Member("parameter") != nullptr) {
    rule.when_parameter = reader.String("parameter");
    rule.parameter_prefix = reader.String("begins");
    if (rule.when_parameter.empty()) reader.Fail("parameter", "a platform parameter");
  }
  if (!reader.status().ok()) return reader.status();
  return rule;
}

// REQUIRES: the cooker's settings were read.
absl::Status TakeOutputs(const json& outputs, const std::string& place, CookerDescription& cooker) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(
        OutputRule rule,
        RuleFromJson(outputs[i], fmt::format("{}.outputs[{}]", place, i), cooker.settings));
    cooker.outputs.push_back(std::move(rule));
  }
  return absl::OkStatus();
}

absl::StatusOr<CookerDescription> CookerFromJson(const json& object, const std::string& place) {
  ObjectReader reader(object, place);
  CookerDescription cooker;
  cooker.name = reader.String("name");
  cooker.identity = reader.String("identity");
  cooker.extensions = reader.Strings("extensions");
  const json& outputs = reader.List("outputs");
  cooker.has_more = reader.Flag("has_more");
  cooker.may_generate = reader.Flag("may_generate");
  if (reader.Member("generates_if") != nullptr) cooker.generates_if = reader.String("generates_if");
  if (reader.Member("generates_if_has") != nullptr)
    cooker.generates_if_has = reader.String("generates_if_has");
  cooker.documentation = reader.String("documentation");
  cooker.source_bytes_max = reader.Count("source_bytes_max");
  cooker.holds_source = reader.Flag("holds_source", true);
  const json& settings = reader.List("settings");
  if (!reader.status().ok()) return reader.status();
  for (size_t i = 0; i < settings.size(); ++i) {
    ASSIGN_OR_RETURN(SettingDescription setting,
                     SettingFromJson(settings[i], fmt::format("{}.settings[{}]", place, i)));
    cooker.settings.push_back(std::move(setting));
  }
  RETURN_IF_ERROR(TakeOutputs(outputs, place, cooker));
  if (reader.Member("looks") == nullptr) return cooker;  // it promises none
  const json& looks = reader.List("looks");
  if (!reader.status().ok()) return reader.status();
  for (size_t i = 0; i < looks.size(); ++i) {
    ASSIGN_OR_RETURN(LookDescription look,
                     LookFromJson(looks[i], fmt::format("{}.looks[{}]", place, i)));
    cooker.looks.push_back(std::move(look));
  }
  return cooker;
}

bool IsNameLess(const CookerDescription& a, const CookerDescription& b) { return a.name < b.name; }

// REQUIRES: `given` is an object.
std::vector<SettingError> CheckGiven(const CookerDescription& cooker, const json& given) {
  std::vector<SettingError> errors;
  for (const auto& [name, value] : given.items()) {
    const auto setting = std::ranges::find_if(
        cooker.settings,
        [&name = name](const SettingDescription& one) { return one.name == name; });
    if (setting == cooker.settings.end()) {
      errors.push_back({name, UnknownSetting(cooker, name)});
    } else if (!HasType(*setting, value)) {
      errors.push_back({name, WrongType(cooker, *setting, value)});
    }
  }
  for (const SettingDescription& setting : cooker.settings) {
    if (!setting.required || given.contains(setting.name)) continue;
    errors.push_back({setting.name,
                      fmt::format("setting \"{}\" of cooker \"{}\" is missing: expected {}",
                                  setting.name, cooker.name, TypeName(setting.type)),
                      true});
  }
  return errors;
}

// Parsed, after CanonicalJson has refused doubled keys and bottomless nesting.
absl::StatusOr<json> ParseJson(std::string_view text) {
  ASSIGN_OR_RETURN(const std::string canonical, CanonicalJson(text));
  return json::parse(canonical, nullptr, false);
}

absl::StatusOr<json> ParseSettings(const CookerDescription& cooker,
                                   std::string_view settings_json) {
  absl::StatusOr<json> given = ParseJson(settings_json);
  if (!given.ok())
    return Annotate(given.status(), fmt::format("settings of cooker \"{}\"", cooker.name));
  if (!given->is_object()) {
    return InvalidArgumentError("settings of cooker \"{}\": expected a table, not {}", cooker.name,
                                given->dump());
  }
  return given;
}

}  // namespace

std::string EncodeDescriptions(const std::vector<CookerDescription>& descriptions) {
  std::vector<CookerDescription> sorted = descriptions;
  std::ranges::sort(sorted, IsNameLess);
  ordered_json document;
  document["schema"] = kSchema;
  document["cookers"] = ordered_json::array();
  for (const CookerDescription& cooker : sorted) document["cookers"].push_back(ToJson(cooker));
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

absl::StatusOr<std::vector<CookerDescription>> DecodeDescriptions(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, ParseJson(text));
  ObjectReader reader(document, "cookers");
  if (const std::string schema = reader.String("schema"); schema != kSchema)
    reader.Fail("schema", kSchema);
  const json& list = reader.List("cookers");
  if (!reader.status().ok()) return reader.status();
  std::vector<CookerDescription> cookers;
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(CookerDescription cooker,
                     CookerFromJson(list[i], fmt::format("cookers[{}]", i)));
    if (!cookers.empty() && !IsNameLess(cookers.back(), cooker)) {
      return InvalidArgumentError("cookers[{}]: {} is not after {}", i, cooker.name,
                                  cookers.back().name);
    }
    cookers.push_back(std::move(cooker));
  }
  return cookers;
}

std::vector<SettingError> CheckSettings(const CookerDescription& cooker,
                                        std::string_view settings_json) {
  const absl::StatusOr<json> given = ParseSettings(cooker, settings_json);
  if (!given.ok()) return {{"", MessageOf(given.status())}};
  return CheckGiven(cooker, *given);
}

absl::StatusOr<std::string> ResolveSettings(const CookerDescription& cooker,
                                            std::string_view settings_json) {
  ASSIGN_OR_RETURN(const json given, ParseSettings(cooker, settings_json));
  if (const auto errors = CheckGiven(cooker, given); !errors.empty())
    return absl::InvalidArgumentError(errors.front().text);
  json resolved = json::object();
  for (const SettingDescription& setting : cooker.settings) {
    if (const auto found = given.find(setting.name); found != given.end()) {
      resolved[setting.name] = *found;
    } else if (setting.default_json != "null") {
      ASSIGN_OR_RETURN(resolved[setting.name], ParseJson(setting.default_json));
    }
  }
  return CanonicalJson(resolved.dump());
}

}  // namespace galley::record
