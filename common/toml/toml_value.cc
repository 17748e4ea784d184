#include "common/toml/toml_value.h"

#include <cmath>
#include <exception>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "toml++/toml.h"

namespace galley {
namespace {

int LineOf(const toml::source_region& region) { return static_cast<int>(region.begin.line); }

absl::StatusOr<TomlValue> Convert(const toml::node& node, int line, std::string_view file);

absl::StatusOr<TomlValue> ConvertTable(const toml::table& table, int line, std::string_view file) {
  TomlValue::Table converted;
  for (auto&& [key, node] : table) {
    ASSIGN_OR_RETURN(TomlValue value, Convert(node, LineOf(key.source()), file));
    converted.emplace(std::string(key.str()), std::move(value));
  }
  return TomlValue{std::move(converted), line};
}

absl::StatusOr<TomlValue> ConvertArray(const toml::array& array, int line, std::string_view file) {
  TomlValue::Array converted;
  for (const toml::node& node : array) {
    ASSIGN_OR_RETURN(TomlValue value, Convert(node, LineOf(node.source()), file));
    converted.push_back(std::move(value));
  }
  return TomlValue{std::move(converted), line};
}

absl::StatusOr<TomlValue> Convert(const toml::node& node, int line, std::string_view file) {
  switch (node.type()) {
    case toml::node_type::table:
      return ConvertTable(*node.as_table(), line, file);
    case toml::node_type::array:
      return ConvertArray(*node.as_array(), line, file);
    case toml::node_type::string:
      return TomlValue{node.as_string()->get(), line};
    case toml::node_type::integer:
      return TomlValue{node.as_integer()->get(), line};
    case toml::node_type::floating_point:
      return TomlValue{node.as_floating_point()->get(), line};
    case toml::node_type::boolean:
      return TomlValue{node.as_boolean()->get(), line};
    default:
      return ErrorAt(file, line,
                     "a date or time stands here; no key takes one (write it in quotes)");
  }
}

absl::StatusOr<nlohmann::json> Json(const TomlValue& value, std::string_view file) {
  if (const auto* flag = std::get_if<bool>(&value.data)) return nlohmann::json(*flag);
  if (const auto* integer = std::get_if<int64_t>(&value.data)) return nlohmann::json(*integer);
  if (const auto* text = std::get_if<std::string>(&value.data)) return nlohmann::json(*text);
  if (const auto* number = std::get_if<double>(&value.data)) {
    if (std::isfinite(*number)) return nlohmann::json(*number);
    return ErrorAt(file, value.line, "a finite number was expected");
  }
  if (const TomlValue::Array* array = value.array()) {
    nlohmann::json json = nlohmann::json::array();
    for (const TomlValue& item : *array) {
      ASSIGN_OR_RETURN(nlohmann::json converted, Json(item, file));
      json.push_back(std::move(converted));
    }
    return json;
  }
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [key, item] : *value.table()) {
    ASSIGN_OR_RETURN(nlohmann::json converted, Json(item, file));
    json[key] = std::move(converted);
  }
  return json;
}

}  // namespace

const TomlValue* TomlValue::Find(std::string_view key) const {
  if (table() == nullptr) return nullptr;
  const auto found = table()->find(std::string(key));
  return found == table()->end() ? nullptr : &found->second;
}

std::string_view TomlValue::TypeName() const {
  switch (data.index()) {
    case 0:
      return "true or false";
    case 1:
      return "an integer";
    case 2:
      return "a number";
    case 3:
      return "a string";
    case 4:
      return "a list";
    default:
      return "a table";
  }
}

absl::Status ErrorAt(std::string_view file, int line, std::string_view text) {
  return absl::InvalidArgumentError(line > 0 ? fmt::format("{}:{}: {}", file, line, text)
                                             : fmt::format("{}: {}", file, text));
}

absl::StatusOr<TomlValue> ParseToml(std::string_view text, std::string_view file) {
  if (text.size() > kTomlBytesMax) {
    return ErrorAt(file, 0, fmt::format("{} bytes; the limit is {}", text.size(), kTomlBytesMax));
  }
  try {
    const toml::table table = toml::parse(text, file);
    return ConvertTable(table, 1, file);
  } catch (const toml::parse_error& error) {
    return ErrorAt(file, LineOf(error.source()),
                   fmt::format("not valid TOML: {}", error.description()));
  } catch (const std::exception& error) {
    return ErrorAt(file, 0, fmt::format("not valid TOML: {}", error.what()));
  }
}

absl::StatusOr<std::string> ToJson(const TomlValue& value, std::string_view file) {
  ASSIGN_OR_RETURN(const nlohmann::json json, Json(value, file));
  return json.dump();
}

}  // namespace galley
