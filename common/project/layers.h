// Layers: the single values of a project ([project], [scan], [cook], [store], [output], [farm])
// from every place that may give them.
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

// Every single value there is, by section.
const std::vector<KnownKey>& KnownKeys();
std::vector<std::string> KnownSections();

class Layers {
 public:
  // The sections of a file, on top of what was added before. Unknown keys are errors. `base`:
  // relative paths are relative to it.
  absl::Status AddFile(const TomlValue& document, std::string_view file, const std::string& base);
  // GALLEY_<SECTION>_<KEY>. A name with another section is not ours; one with a known section and
  // an unknown key is an error.
  absl::Status AddEnvironment(const std::map<std::string, std::string>& environment);
  // "store.dir" -> text.
  absl::Status AddOverrides(const std::map<std::string, std::string>& overrides);

  struct Value {
    TomlValue value;
    std::string source;  // "galley.toml:12", "GALLEY_STORE_DIR", "command line"
    std::string base;    // for relative paths; empty: the working directory
    std::string file;    // empty: `value` is from none, and its lines are 0
  };
  // nullptr: nobody gave it.
  const Value* Find(const std::string& section_key) const;
  // Every known key with its value and where that came from.
  std::vector<Origin> Origins() const;

 private:
  absl::Status AddText(const KnownKey& key, const std::string& text, const std::string& source);
  std::map<std::string, Value> values_;  // "store.dir"
};

// INVALID_ARGUMENT with the place where the value was given: "galley.toml:12: text".
absl::Status WrongValue(const Layers::Value& value, std::string_view text);

}  // namespace galley::project
