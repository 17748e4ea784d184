// TomlValue: a parsed TOML document as plain values with line numbers. Only toml_value.cc uses the
// TOML library.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace galley {

struct TomlValue {
  using Array = std::vector<TomlValue>;
  using Table = std::map<std::string, TomlValue>;

  std::variant<bool, int64_t, double, std::string, Array, Table> data;
  int line = 0;  // of the key, or of the value in an array; 0: not from a file

  const Table* table() const { return std::get_if<Table>(&data); }
  // nullptr: it is no table, or the table has no such key.
  const TomlValue* Find(std::string_view key) const;
  const Array* array() const { return std::get_if<Array>(&data); }
  // "a string", "a table", ...
  std::string_view TypeName() const;
};

inline constexpr size_t kTomlBytesMax = 4 << 20;

// `file`: the name in errors. INVALID_ARGUMENT "<file>:<line>: ...". Dates and times are refused:
// no key takes them.
absl::StatusOr<TomlValue> ParseToml(std::string_view text, std::string_view file);

// The value as JSON text. INVALID_ARGUMENT: a number that JSON has not (inf, nan).
absl::StatusOr<std::string> ToJson(const TomlValue& value, std::string_view file);

// INVALID_ARGUMENT "<file>:<line>: <text>"; line 0 is left out.
absl::Status ErrorAt(std::string_view file, int line, std::string_view text);

}  // namespace galley
