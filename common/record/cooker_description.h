// CookerDescription: a cooker's name, identity, extensions, outputs and settings. `galley-worker
// describe` prints one for each cooker; the director links no cooker and knows them by these alone.
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
  std::vector<std::string> extensions = {};  // of the sources for which that holds; empty: all
  std::string unless_setting = "";           // it does not hold where this setting is given
  bool in_verdicts = false;                  // its verdicts come after the look, too
};

struct CookerDescription {
  std::string name;
  std::string identity;                 // "1;libpng=1.6.39"
  std::vector<std::string> extensions;  // lower case without dot; empty: anything
  std::vector<std::string> outputs;     // suffixes that it may write, for documentation: ".ktx2"
  std::string documentation;
  std::vector<SettingDescription> settings;
  // Sources of more bytes are no use to it, whatever memory there is; 0: no limit of its own.
  uint64_t source_bytes_max = 0;
  // The cooker has the whole source in memory, so that the job's memory limit bounds its size.
  bool holds_source = true;
  std::vector<LookDescription> looks = {};  // an observation set without them is refused
};

// JSON: { "schema": "galley.cookers.v1", "cookers": [ ... ] }, sorted by name.
std::string EncodeDescriptions(const std::vector<CookerDescription>& descriptions);
absl::StatusOr<std::vector<CookerDescription>> DecodeDescriptions(std::string_view json);

// The cooker's defaults under `settings_json` (an object), every value checked against its type and
// choices; canonical JSON. INVALID_ARGUMENT names the setting, what was expected, and the nearest
// known name for an unknown one.
absl::StatusOr<std::string> ResolveSettings(const CookerDescription& cooker,
                                            std::string_view settings_json);

// The member of `known` nearest to `text` by edit distance, empty when none is near.
std::string Nearest(std::string_view text, const std::vector<std::string>& known);

}  // namespace galley::record
