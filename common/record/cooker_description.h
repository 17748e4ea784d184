// CookerDescription: a cooker's name, identity, extensions, outputs and settings. `galley-worker
// describe` prints the description of each cooker; the director links no cooker, and knows cookers
// only by these descriptions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/record/observation.h"

namespace galley::record {

enum class SettingType {
  kBool,
  kInteger,
  kNumber,
  kString,
  kStringList,
  kNumberList,
  kTable,
  kChoice
};

struct SettingDescription {
  std::string name;
  SettingType type = SettingType::kString;
  // Canonical JSON of the default; "null": no default, absent unless given.
  std::string default_json;
  std::vector<std::string> choices;  // kChoice
  std::string documentation;         // one sentence
  bool required = false;
};

// A look that the cooker makes in each cook that succeeds, whatever the source holds.
struct LookDescription {
  ObservationKind kind = ObservationKind::kPlatform;
  std::string subject = "";                  // empty: at least one of this kind
  std::vector<std::string> extensions = {};  // sources for which this holds; empty: all
  std::string unless_setting = "";           // it does not hold if this setting is given
  bool in_verdicts = false;                  // true: the look comes before any verdict, too
};

// Place of a member in the suffix of a rule with `each_setting`.
inline constexpr char kMemberPlace = '*';

// An output, or several, of every cook that succeeds, whatever the source holds, if both conditions
// are met. A condition without a name is met.
//
//   {.suffix = ".ktx2"}
//   {.suffix = ".ogg", .when_setting = "codec", .setting_value = "vorbis"}
//   {.suffix = ".d/*.spv", .each_setting = "variants", .when_parameter = "shader",
//    .parameter_prefix = "spirv-"}
struct OutputRule {
  std::string suffix;  // "": the package's own path
  // Not empty: an output for each member of this setting, whose name replaces the kMemberPlace in
  // `suffix`: the key in a table, the string in a list of strings, in a list of numbers the place,
  // counted from 1.
  std::string each_setting = "";
  std::string when_setting = "";  // a choice or a string; met when it is `setting_value`
  std::string setting_value = "";
  std::string when_parameter =
      "";  // a platform parameter; met when it begins with `parameter_prefix`
  std::string parameter_prefix = "";
};

struct CookerDescription {
  std::string name;
  std::string identity;                 // "1;libpng=1.6.39"
  std::vector<std::string> extensions;  // lower case without dot; empty: anything
  std::vector<OutputRule> outputs;      // exact: a cook with others is refused (output_names.h)
  std::string documentation;
  std::vector<SettingDescription> settings;
  // The cooker cannot use larger sources, whatever memory there is; 0: no limit of its own.
  uint64_t source_bytes_max = 0;
  // The cooker holds the whole source in memory, so the job's memory limit bounds the source's
  // size.
  bool holds_source = true;
  std::vector<LookDescription> looks = {};  // an observation set without them is refused
  // A cook may have outputs below ".d/" that no rule tells.
  bool has_more = false;
  // A cook may generate packages; a cook that does is refused otherwise.
  bool may_generate = false;
  // Not empty: only a cook for which this setting is not its default may; and, where
  // `generates_if_has` is not empty, only one for which the setting's JSON has this text.
  std::string generates_if = "";
  std::string generates_if_has = "";
};

// JSON: { "schema": "galley.cookers.v2", "cookers": [ ... ] }, sorted by name (docs/formats.md).
std::string EncodeDescriptions(const std::vector<CookerDescription>& descriptions);
// INVALID_ARGUMENT names the place and what was expected; for another schema, too.
absl::StatusOr<std::vector<CookerDescription>> DecodeDescriptions(std::string_view json);

// Puts `settings_json`, an object, over the cooker's defaults, checks every value against its type
// and choices, and returns canonical JSON. INVALID_ARGUMENT names the setting, what was expected,
// and for an unknown name the nearest known name.
absl::StatusOr<std::string> ResolveSettings(const CookerDescription& cooker,
                                            std::string_view settings_json);

// The member of `known` nearest to `text` by edit distance; empty: none is near.
std::string Nearest(std::string_view text, const std::vector<std::string>& known);

}  // namespace galley::record
