#include "common/project/rule_body.h"

#include "common/base/errors.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "common/project/later_keys.h"
#include "common/toml/value_reader.h"
#include "fmt/format.h"

namespace galley::project {
namespace {

constexpr int64_t kTimeoutSecondsMax = 7 * 24 * 3600;

absl::StatusOr<std::string> ReadSettings(const TableReader& table, std::string_view file,
                                         SettingLines& lines) {
  const TomlValue* value = table.Find("settings");
  if (value == nullptr) return std::string();
  if (value->table() == nullptr) {
    return table.Error("settings",
                       fmt::format("`settings` must be a table, not {}", value->TypeName()));
  }
  for (const auto& [name, item] : *value->table()) lines[name] = item.line;
  return ToJson(*value, file);
}

absl::Status ReadPlatformSettings(const TomlValue& value, std::string_view file, RuleBody& body) {
  RETURN_IF_ERROR(TableReader::Create(value, file, "platform", {}).status());
  for (const auto& [name, item] : *value.table()) {
    ASSIGN_OR_RETURN(const TableReader table,
                     TableReader::Create(item, file, "platform." + name, {"settings"}));
    body.platform_lines[name] = item.line;
    ASSIGN_OR_RETURN(std::string settings,
                     ReadSettings(table, file, body.platform_setting_lines[name]));
    if (!settings.empty()) body.platform_settings.emplace(name, std::move(settings));
  }
  return absl::OkStatus();
}

// A list of names, as "gpu" or "licence=4", or a table of numbers.
absl::Status ReadWantedResources(const TableReader& table, std::string_view file, RuleBody& body) {
  const TomlValue* value = table.Find("resources");
  if (value == nullptr) return absl::OkStatus();
  record::ResourceCounts& resources = body.resources.emplace();
  if (value->table() != nullptr) {
    ASSIGN_OR_RETURN(const TableReader counts, TableReader::Create(*value, file, "resources", {}));
    for (const auto& [name, count] : *value->table()) {
      if (const absl::Status known = record::CheckOfferName(name); !known.ok())
        return counts.Error(name, "`resources`: " + MessageOf(known));
      ASSIGN_OR_RETURN(const auto number, counts.Integer(name, 1, record::WorkerOffer::kCountMax));
      resources[name] = static_cast<uint32_t>(*number);
    }
  } else {
    ASSIGN_OR_RETURN(const auto texts, table.Strings("resources"));
    for (const std::string& text : *texts) {
      const auto one = record::ParseResource(text, /*needs_count=*/false);
      if (!one.ok()) return table.Error("resources", "`resources`: " + MessageOf(one.status()));
      if (!resources.insert(*one).second)
        return table.Error("resources",
                           fmt::format("`resources`: {} stands there twice; write \"{}=N\" for "
                                       "several",
                                       one->first, one->first));
    }
  }
  if (resources.size() <= record::WorkerOffer::kNamesMax) return absl::OkStatus();
  return table.Error("resources",
                     fmt::format("`resources`: more than {}", record::WorkerOffer::kNamesMax));
}

absl::Status ReadWantedLabels(const TableReader& table, RuleBody& body) {
  ASSIGN_OR_RETURN(body.labels, table.Strings("labels"));
  if (!body.labels.has_value()) return absl::OkStatus();
  *body.labels = record::SortedNames(*std::move(body.labels));
  const absl::Status known = record::CheckOffer({.labels = *body.labels, .resources = {}});
  return known.ok() ? known : table.Error("labels", "`labels`: " + MessageOf(known));
}

// warnings = { off = [...], error = [...] }
absl::Status ReadWarnings(const TableReader& table, std::string_view file, RuleBody& body) {
  const TomlValue* value = table.Find("warnings");
  if (value == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const TableReader warnings,
                   TableReader::Create(*value, file, "warnings", {"error", "off"}));
  for (const bool is_error : {false, true}) {
    const std::string key = is_error ? "error" : "off";
    ASSIGN_OR_RETURN(const auto names, warnings.Strings(key));
    for (size_t i = 0; names && i < names->size(); ++i) {
      const absl::Status added = AddWarningKind((*names)[i], is_error, body.warnings);
      if (!added.ok())
        return ErrorAt(file, warnings.Find(key)->array()->at(i).line,
                       fmt::format("`warnings.{}`: {}", key, MessageOf(added)));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadLfs(const TableReader& table, RuleBody& body) {
  ASSIGN_OR_RETURN(const std::optional<std::string> lfs, table.String("lfs"));
  if (!lfs) return absl::OkStatus();
  if (*lfs != "keep" && *lfs != "fail")
    return table.Error("lfs", fmt::format("`lfs`: expected \"keep\" (a Git LFS pointer is content "
                                          "here) or \"fail\" (the default), not \"{}\"",
                                          *lfs));
  body.keeps_lfs_pointers = *lfs == "keep";
  return absl::OkStatus();
}

absl::Status ReadMemory(const TableReader& table, RuleBody& body) {
  ASSIGN_OR_RETURN(const std::optional<std::string> memory, table.String("memory"));
  if (!memory) return absl::OkStatus();
  const absl::StatusOr<uint64_t> size = ParseSize(*memory);
  if (!size.ok()) return table.Error("memory", "`memory`: " + MessageOf(size.status()));
  if (*size == 0)
    return table.Error("memory", "`memory` must not be 0; leave it out for the default");
  body.memory_bytes = *size;
  return absl::OkStatus();
}

}  // namespace

absl::Status AddWarningKind(const std::string& name, bool is_error, record::WarningRules& rules) {
  const std::optional<record::WarningKind> kind = record::WarningKindNamed(name);
  if (!kind)
    return absl::InvalidArgumentError(
        UnknownName("kind of warnings", name, record::WarningKindNames()));
  if (is_error ? rules.IsOff(*kind) : rules.IsError(*kind))
    return InvalidArgumentError("`{}` is in `off` and in `error`; leave it in one of them", name);
  (is_error ? rules.error : rules.off).set(static_cast<size_t>(*kind));
  return absl::OkStatus();
}

absl::StatusOr<RuleBody> ReadRuleBody(const TomlValue& value, std::string_view file,
                                      std::string_view name,
                                      const std::vector<std::string>& extra_keys) {
  std::vector<std::string> known = {"cooker",    "labels",   "lfs",       "memory",  "platform",
                                    "resources", "settings", "timeout_s", "warnings"};
  known.insert(known.end(), extra_keys.begin(), extra_keys.end());
  ASSIGN_OR_RETURN(const TableReader table, TableReader::Create(value, file, name, known));
  RuleBody body;
  ASSIGN_OR_RETURN(body.cooker, table.String("cooker"));
  if (body.cooker && body.cooker->empty()) return table.Error("cooker", "`cooker` is empty");
  if (body.cooker) body.cooker_line = table.Find("cooker")->line;
  ASSIGN_OR_RETURN(body.settings, ReadSettings(table, file, body.setting_lines));
  if (const TomlValue* platforms = table.Find("platform")) {
    RETURN_IF_ERROR(ReadPlatformSettings(*platforms, file, body));
  }
  RETURN_IF_ERROR(ReadWantedResources(table, file, body));
  RETURN_IF_ERROR(ReadLfs(table, body));
  RETURN_IF_ERROR(ReadMemory(table, body));
  ASSIGN_OR_RETURN(const std::optional<int64_t> timeout,
                   table.Integer("timeout_s", 1, kTimeoutSecondsMax));
  if (timeout) body.timeout = absl::Seconds(*timeout);
  RETURN_IF_ERROR(ReadWantedLabels(table, body));
  RETURN_IF_ERROR(ReadWarnings(table, file, body));
  return body;
}

absl::StatusOr<RuleBody> ParseSidecar(std::string_view toml, std::string_view file) {
  ASSIGN_OR_RETURN(const TomlValue value, ParseToml(toml, file));
  if (value.table()->contains("match")) {
    return ErrorAt(
        file, value.table()->at("match").line,
        "`match` has no place in a sidecar: it is about the file that it is named after");
  }
  RETURN_IF_ERROR(RefuseLaterKeysOfSidecar(value, file));
  return ReadRuleBody(value, file, "", {});
}

}  // namespace galley::project
