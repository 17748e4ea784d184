// Layers: the single values of a project ([project], [scan], [cook], [store], [output], [farm])
// from all sources.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "common/toml/toml_value.h"

namespace galley::project {

enum class ValueType { kString, kBool, kInteger, kNumber, kStrings };

struct KnownKey {
  std::string section;
  std::string key;
  ValueType type = ValueType::kString;
  std::string default_shown;  // for doctor
};

// The keys of all single values, by section.
const std::vector<KnownKey>& KnownKeys();
std::vector<std::string> KnownSections();

class Layers {
 public:
  // Adds the sections of a file over earlier values. Unknown keys are errors. `base`: the folder
  // for relative paths.
  absl::Status AddFile(const TomlValue& document, std::string_view file, const std::string& base);
  // Adds variables GALLEY_<SECTION>_<KEY>. A variable of an unknown section is ignored; an unknown
  // key of a known section is an error.
  absl::Status AddEnvironment(const std::map<std::string, std::string>& environment);
  // Adds texts by key, such as "store.dir".
  absl::Status AddOverrides(const std::map<std::string, std::string>& overrides);

  struct Value {
    TomlValue value;
    std::string source;  // "galley.toml:12", "GALLEY_STORE_DIR", "command line"
    std::string base;    // for relative paths; empty: the working directory
    std::string file;    // empty: not from a file, and lines are 0
  };
  // nullptr: no source gave a value.
  const Value* Find(const std::string& section_key) const;
  // Every known key with its value and the value's source.
  std::vector<Origin> Origins() const;

 private:
  absl::Status AddText(const KnownKey& key, const std::string& text, const std::string& source);
  std::map<std::string, Value> values_;  // "store.dir"
};

// INVALID_ARGUMENT with the place where the value was given: "galley.toml:12: text".
absl::Status WrongValue(const Layers::Value& value, std::string_view text);

}  // namespace galley::project
