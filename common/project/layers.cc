#include "common/project/layers.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/toml/value_reader.h"
#include "fmt/format.h"

namespace galley::project {
namespace {

std::string NameOf(const KnownKey& key) { return key.section + "." + key.key; }

std::string VariableOf(const KnownKey& key) {
  return absl::AsciiStrToUpper("GALLEY_" + key.section + "_" + key.key);
}

std::vector<std::string> KeysOf(std::string_view section) {
  std::vector<std::string> keys;
  for (const KnownKey& key : KnownKeys()) {
    if (key.section == section) keys.push_back(key.key);
  }
  return keys;
}

absl::Status CheckType(const TableReader& table, const KnownKey& key) {
  switch (key.type) {
    case ValueType::kString:
      return table.String(key.key).status();
    case ValueType::kBool:
      return table.Bool(key.key).status();
    case ValueType::kInteger:
      return table.Integer(key.key, INT64_MIN, INT64_MAX).status();
    case ValueType::kNumber:
      return table.Number(key.key).status();
    case ValueType::kStrings:
      return table.Strings(key.key).status();
  }
  return absl::OkStatus();
}

// "a,b" -> a list; "" -> an empty one.
TomlValue SplitList(const std::string& text) {
  TomlValue::Array items;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) items.push_back({text.substr(begin, end - begin), 0});
    begin = end + 1;
  }
  return {std::move(items), 0};
}

}  // namespace

const std::vector<KnownKey>& KnownKeys() {
  using enum ValueType;
  static const std::vector<KnownKey> keys = {
      {"project", "name", kString, "the folder's name"},
      {"project", "fix_case", kBool, "false"},
      {"scan", "ignore", kStrings, "[]"},
      {"cook", "maps", kStrings, "[]"},
      {"cook", "directories", kStrings, "[]"},
      {"cook", "always", kStrings, "[]"},
      {"cook", "never", kStrings, "[]"},
      {"cook", "cultures", kStrings, "[]"},
      {"cook", "modify", kStrings, "[]"},
      {"cook", "identity", kString, "versions"},
      {"cook", "walls", kString, "best"},
      {"warnings", "off", kStrings, "[]"},
      {"warnings", "error", kStrings, "[]"},
      {"store", "dir", kString, ".galley/store"},
      {"store", "keep_sources", kBool, "false"},
      {"store", "keep_roots", kInteger, "10"},
      {"store", "max_size", kString, "100GiB"},
      {"store", "trust", kString, "main"},
      {"store", "read_trust", kStrings, "[]"},
      {"store", "remote", kString, ""},
      {"store", "instance", kString, ""},
      {"store", "remote_mode", kString, "read"},
      {"store", "credential_file", kString, ""},
      {"store", "tls_ca", kString, ""},
      {"store", "tls_cert", kString, ""},
      {"store", "tls_key", kString, ""},
      {"output", "dir", kString, ".galley/cooked"},
      {"director", "ahead", kBool, "true"},
      {"director", "http", kString, ""},
      {"director", "memory", kString, ""},
      {"director", "metrics", kString, ""},
      {"farm", "workers", kInteger, "0"},
      {"farm", "workers_min", kInteger, "0"},
      {"farm", "idle_s", kInteger, "60"},
      {"farm", "slots", kInteger, "1"},
      {"farm", "launcher", kString, "local"},
      {"farm", "placement", kString, "cost"},
      {"farm", "program", kString, ""},
      {"farm", "shared_path", kString, ""},
      {"farm", "hosts", kString, ""},
      {"farm", "arguments", kStrings, "[]"},
      {"farm", "start", kString, ""},
      {"farm", "status", kString, ""},
      {"farm", "stop", kString, ""},
      {"farm", "advertise", kString, ""},
      {"farm", "listen", kString, ""},
      {"farm", "env", kStrings, "[]"},
      {"farm", "labels", kStrings, "[]"},
      {"farm", "resources", kStrings, "[]"},
      {"farm", "far_programs", kBool, "false"},
      {"farm", "certificate_s", kInteger, "604800"},
      {"farm", "prove", kNumber, "0.01"},
      {"farm", "tls_ca", kString, ""},
      {"farm", "tls_cert", kString, ""},
      {"farm", "tls_key", kString, ""},
  };
  return keys;
}

std::vector<std::string> KnownSections() {
  std::vector<std::string> sections;
  for (const KnownKey& key : KnownKeys()) {
    if (sections.empty() || sections.back() != key.section) sections.push_back(key.section);
  }
  return sections;
}

absl::Status Layers::AddFile(const TomlValue& document, std::string_view file,
                             const std::string& base) {
  for (const std::string& section : KnownSections()) {
    const auto found = document.table()->find(section);
    if (found == document.table()->end()) continue;
    ASSIGN_OR_RETURN(const TableReader table,
                     TableReader::Create(found->second, file, section, KeysOf(section)));
    for (const KnownKey& key : KnownKeys()) {
      const TomlValue* value = key.section == section ? table.Find(key.key) : nullptr;
      if (value == nullptr) continue;
      RETURN_IF_ERROR(CheckType(table, key));
      values_[NameOf(key)] = {*value, fmt::format("{}:{}", file, value->line), base,
                              std::string(file)};
    }
  }
  return absl::OkStatus();
}

absl::Status Layers::AddText(const KnownKey& key, const std::string& text,
                             const std::string& source) {
  TomlValue value;
  if (key.type == ValueType::kString) {
    value.data = text;
  } else if (key.type == ValueType::kStrings) {
    value = SplitList(text);
  } else if (key.type == ValueType::kBool) {
    if (text != "true" && text != "false" && text != "1" && text != "0") {
      return ErrorAt(source, 0,
                     fmt::format("`{}` must be true or false, not `{}`", NameOf(key), text));
    }
    value.data = text == "true" || text == "1";
  } else if (key.type == ValueType::kNumber) {
    double number = 0;
    if (!absl::SimpleAtod(text, &number)) {
      return ErrorAt(source, 0, fmt::format("`{}` must be a number, not `{}`", NameOf(key), text));
    }
    value.data = number;
  } else {
    int64_t integer = 0;
    if (!absl::SimpleAtoi(text, &integer)) {
      return ErrorAt(source, 0,
                     fmt::format("`{}` must be an integer, not `{}`", NameOf(key), text));
    }
    value.data = integer;
  }
  values_[NameOf(key)] = {std::move(value), source, "", ""};
  return absl::OkStatus();
}

absl::Status Layers::AddEnvironment(const std::map<std::string, std::string>& environment) {
  for (const auto& [variable, text] : environment) {
    const auto& keys = KnownKeys();
    const auto found = std::ranges::find_if(
        keys, [&variable = variable](const KnownKey& key) { return VariableOf(key) == variable; });
    if (found != keys.end()) {
      RETURN_IF_ERROR(AddText(*found, text, variable));
      continue;
    }
    std::vector<std::string> known;
    for (const KnownKey& key : keys) {
      if (variable.starts_with(absl::AsciiStrToUpper("GALLEY_" + key.section + "_")))
        known.push_back(VariableOf(key));
    }
    if (!known.empty()) {
      return absl::InvalidArgumentError(UnknownName("environment variable", variable, known));
    }
  }
  return absl::OkStatus();
}

absl::Status Layers::AddOverrides(const std::map<std::string, std::string>& overrides) {
  for (const auto& [name, text] : overrides) {
    const auto& keys = KnownKeys();
    const auto found = std::ranges::find_if(
        keys, [&name = name](const KnownKey& key) { return NameOf(key) == name; });
    if (found == keys.end()) {
      std::vector<std::string> known;
      for (const KnownKey& key : keys) known.push_back(NameOf(key));
      return absl::InvalidArgumentError(UnknownName("key", name, known));
    }
    RETURN_IF_ERROR(AddText(*found, text, "command line"));
  }
  return absl::OkStatus();
}

const Layers::Value* Layers::Find(const std::string& section_key) const {
  const auto found = values_.find(section_key);
  return found == values_.end() ? nullptr : &found->second;
}

std::vector<Origin> Layers::Origins() const {
  std::vector<Origin> origins;
  for (const KnownKey& key : KnownKeys()) {
    const Value* value = Find(NameOf(key));
    if (value == nullptr) {
      origins.push_back({NameOf(key), key.default_shown, "default"});
      continue;
    }
    const auto* text = std::get_if<std::string>(&value->value.data);
    const absl::StatusOr<std::string> json =
        text != nullptr ? *text : ToJson(value->value, value->source);
    origins.push_back({NameOf(key), json.ok() ? *json : MessageOf(json.status()), value->source});
  }
  return origins;
}

absl::Status WrongValue(const Layers::Value& value, std::string_view text) {
  return InvalidArgumentError("{}: {}", value.source, text);
}

}  // namespace galley::project
