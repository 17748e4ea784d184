// Reads TOML values as the types that keys need, with errors that name file, line, key, what was
// expected, and the nearest known key. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/toml/toml_value.h"

namespace galley {

// "unknown key `platfrom`; did you mean `platform`?", or the list of known ones when none is near.
std::string UnknownName(std::string_view what, std::string_view name,
                        const std::vector<std::string>& known);

// TableReader: a table whose keys are looked up by name. The value and the file's name outlive it.
class TableReader {
 public:
  // INVALID_ARGUMENT: no table, or a key that is not in `known`. `known` empty: all keys.
  static absl::StatusOr<TableReader> Create(const TomlValue& value, std::string_view file,
                                            std::string_view name,
                                            const std::vector<std::string>& known);

  const TomlValue* Find(const std::string& key) const;
  int line() const { return value_->line; }

  // nullopt: absent. INVALID_ARGUMENT: another type.
  absl::StatusOr<std::optional<std::string>> String(const std::string& key) const;
  absl::StatusOr<std::optional<bool>> Bool(const std::string& key) const;
  // An integer is a number, too.
  absl::StatusOr<std::optional<double>> Number(const std::string& key) const;
  absl::StatusOr<std::optional<int64_t>> Integer(const std::string& key, int64_t min,
                                                 int64_t max) const;
  absl::StatusOr<std::optional<std::vector<std::string>>> Strings(const std::string& key) const;
  // INVALID_ARGUMENT when absent or empty.
  absl::StatusOr<std::string> Required(const std::string& key) const;
  // "<file>:<line of key, or of the table>: <text>".
  absl::Status Error(const std::string& key, std::string_view text) const;

 private:
  absl::Status WrongType(const std::string& key, const TomlValue& value,
                         std::string_view expected) const;
  const TomlValue* value_ = nullptr;
  std::string_view file_;
};

}  // namespace galley
