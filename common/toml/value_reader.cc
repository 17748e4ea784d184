#include "common/toml/value_reader.h"

#include <algorithm>
#include <map>

#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley {

std::string UnknownName(std::string_view what, std::string_view name,
                        const std::vector<std::string>& known) {
  const std::string nearest = record::Nearest(name, known);
  if (!nearest.empty())
    return fmt::format("unknown {} `{}`; did you mean `{}`?", what, name, nearest);
  return fmt::format("unknown {} `{}`; known: {}", what, name, fmt::join(known, ", "));
}

absl::StatusOr<TableReader> TableReader::Create(const TomlValue& value, std::string_view file,
                                                std::string_view name,
                                                const std::vector<std::string>& known) {
  if (value.table() == nullptr) {
    return ErrorAt(file, value.line,
                   fmt::format("`{}` must be a table, not {}", name, value.TypeName()));
  }
  for (const auto& [key, item] : *value.table()) {
    if (known.empty() || std::ranges::find(known, key) != known.end()) continue;
    const std::string where = name.empty() ? "" : fmt::format(" in `{}`", name);
    return ErrorAt(file, item.line, UnknownName("key", key, known) + where);
  }
  TableReader reader;
  reader.value_ = &value;
  reader.file_ = file;
  return reader;
}

const TomlValue* TableReader::Find(const std::string& key) const { return value_->Find(key); }

absl::Status TableReader::Error(const std::string& key, std::string_view text) const {
  const TomlValue* value = Find(key);
  return ErrorAt(file_, value != nullptr ? value->line : line(), text);
}

absl::Status TableReader::WrongType(const std::string& key, const TomlValue& value,
                                    std::string_view expected) const {
  return ErrorAt(file_, value.line,
                 fmt::format("`{}` must be {}, not {}", key, expected, value.TypeName()));
}

absl::StatusOr<std::optional<std::string>> TableReader::String(const std::string& key) const {
  const TomlValue* value = Find(key);
  if (value == nullptr) return std::optional<std::string>();
  if (const auto* text = std::get_if<std::string>(&value->data)) return std::optional(*text);
  return WrongType(key, *value, "a string");
}

absl::StatusOr<std::optional<bool>> TableReader::Bool(const std::string& key) const {
  const TomlValue* value = Find(key);
  if (value == nullptr) return std::optional<bool>();
  if (const auto* flag = std::get_if<bool>(&value->data)) return std::optional(*flag);
  return WrongType(key, *value, "true or false");
}

absl::StatusOr<std::optional<int64_t>> TableReader::Integer(const std::string& key, int64_t min,
                                                            int64_t max) const {
  const TomlValue* value = Find(key);
  if (value == nullptr) return std::optional<int64_t>();
  const auto* integer = std::get_if<int64_t>(&value->data);
  if (integer == nullptr) return WrongType(key, *value, "an integer");
  if (*integer >= min && *integer <= max) return std::optional(*integer);
  return Error(key, fmt::format("`{}` must lie in {}..{}, not be {}", key, min, max, *integer));
}

absl::StatusOr<std::optional<double>> TableReader::Number(const std::string& key) const {
  const TomlValue* value = Find(key);
  if (value == nullptr) return std::optional<double>();
  if (const auto* integer = std::get_if<int64_t>(&value->data))
    return std::optional<double>(static_cast<double>(*integer));
  const auto* number = std::get_if<double>(&value->data);
  if (number == nullptr) return WrongType(key, *value, "a number");
  return std::optional<double>(*number);
}

absl::StatusOr<std::optional<std::vector<std::string>>> TableReader::Strings(
    const std::string& key) const {
  const TomlValue* value = Find(key);
  if (value == nullptr) return std::optional<std::vector<std::string>>();
  if (value->array() == nullptr) return WrongType(key, *value, "a list of strings");
  std::vector<std::string> strings;
  for (const TomlValue& item : *value->array()) {
    const auto* text = std::get_if<std::string>(&item.data);
    if (text == nullptr) return WrongType(key, item, "a list of strings only");
    strings.push_back(*text);
  }
  return std::optional(std::move(strings));
}

absl::StatusOr<std::string> TableReader::Required(const std::string& key) const {
  ASSIGN_OR_RETURN(std::optional<std::string> text, String(key));
  if (!text) return Error(key, fmt::format("`{}` is missing", key));
  if (text->empty()) return Error(key, fmt::format("`{}` is empty", key));
  return *std::move(text);
}

}  // namespace galley
