// Names of a recipe's outputs, as the cooker's description says (cooker_description.h): what is
// known of a package's cooked files before the package is cooked.
//
// The names are exact. A cook that succeeds has every output in `always`, and no other, except
// below ".d/" when `has_more` is true. The executor refuses a cook that differs (check_outputs.h).
// A cook that fails has no outputs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace galley::record {

struct CookerDescription;

// A platform's parameters by name: "texture" -> "bc"; without the platform's name.
using PlatformParameters = std::map<std::string, std::string>;

struct OutputNames {
  // Suffixes that ValidateSuffix (result.h) accepts, sorted by bytes, each once: "", ".d/lod1.glb",
  // ".ktx2".
  std::vector<std::string> always;
  bool has_more = false;      // only the cook tells which further outputs there are, below ".d/"
  bool may_generate = false;  // only the load tells which packages are generated, if any
  bool operator==(const OutputNames&) const = default;
};

// The names for `settings_json`, which ResolveSettings made for this cooker, on a platform with
// `parameters`. A suffix that no output can have is left out: a cook with such settings fails.
// Cost: a pass over the cooker's rules; the settings are parsed when a rule depends on them.
OutputNames OutputNamesOf(const CookerDescription& cooker, std::string_view settings_json,
                          const PlatformParameters& parameters);

// True: a cook that succeeds has, or may have, the output `suffix`.
bool MayHaveOutput(const OutputNames& names, std::string_view suffix);

}  // namespace galley::record
